-- A form that a server asks a person to fill in: the JSON Schema of its values, and the values until the server has them.
alter table approval add column form text, add column answer text;
