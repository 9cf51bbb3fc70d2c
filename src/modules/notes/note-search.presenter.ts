import { jsonList, JsonReply } from '../../platform/http/json-reply.js';

/** What a search says about a note: its summary (JSON text), its score (as text) and where it matches. */
export function searchHit(summary: string, score: string, title: string, content: string): string {
  return `${summary.slice(0, -1)},"score":${score},"highlights":${JSON.stringify({ title, content })}}`;
}

/** `{ notes, total, next, query }` of JSON texts. */
export function searchReply(hits: string[], total: number, next: string | null, query: string): JsonReply {
  const tail = `"total":${total},"next":${JSON.stringify(next)},"query":${JSON.stringify(query)}}`;
  return new JsonReply(jsonList(['notes'], hits, tail));
}
