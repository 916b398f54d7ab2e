-- Where an artifact comes from: `runner` made it, or it came with the `event` that its run was started for.
alter table artifact add column source text not null default 'runner';
