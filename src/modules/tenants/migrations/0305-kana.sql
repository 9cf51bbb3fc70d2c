-- The directory finds names in hiragana and in katakana. The application folds them again after its start (directory-backfill.ts).
UPDATE tenant_members SET folded = NULL WHERE folded ~ '[ぁ-ゖァ-ヶ]';
