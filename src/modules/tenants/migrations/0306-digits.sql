-- The directory finds digits of each script by those of another. The application folds names again after its start (directory-backfill.ts).
UPDATE tenant_members SET folded = NULL WHERE folded ~ '[٠-٩۰-۹߀-߉०-९০-৯੦-੯૦-૯୦-୯௦-௯౦-౯೦-೯൦-൯෦-෯๐-๙໐-໙༠-༩၀-၉០-៩᠐-᠙]';
