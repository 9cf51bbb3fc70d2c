import { percentDecoded } from '../text/index.js';

/** The start of the data URI in which `related` has the card of an AGENT. */
const AGENT_CARD = 'data:text/vcard;charset=utf-8,';

export const agentUri = (card: string): string => AGENT_CARD + encodeURIComponent(card);

/** True for a whole card in several lines. A BEGIN line alone would nest the rest of the outer card. */
export function isCard(text: string): boolean {
  return /^BEGIN\s*:\s*VCARD\s*\n./i.test(text) && /\nEND\s*:\s*VCARD$/i.test(text);
}

/** The text of the card in a URI of `agentUri`; undefined for other URIs. */
export function agentCard(uri: string): string | undefined {
  const text = uri.startsWith(AGENT_CARD) ? percentDecoded(uri.slice(AGENT_CARD.length)) : '';
  return isCard(text) ? text : undefined;
}
