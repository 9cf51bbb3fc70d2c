-- As search_text, of the published version: for users who may not read the draft. Null: the draft is the published version.
ALTER TABLE forms ADD COLUMN published_search_text text;
