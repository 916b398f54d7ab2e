-- The first words of a run's input: a list of runs need not read inputs, which may be megabytes of images. Null in older rows.
alter table run add column input_excerpt text;
