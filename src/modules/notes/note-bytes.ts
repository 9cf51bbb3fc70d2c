/** SQL over the row `item` of a note: about the bytes of the note without its content, from the parts that may be long. */
export const NOTE_SUMMARY_BYTES = `2048 + 256 * cardinality(item.member_ids) + 128 * cardinality(item.labels)
  + CASE WHEN item.links = '[]' THEN 0 ELSE 4 * octet_length(item.links::text) END`;
