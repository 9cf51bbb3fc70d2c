import { decoded } from './text.js';

/** The card of an AGENT, which `related` has as a data URI. */
const AGENT_CARD = 'data:text/vcard;charset=utf-8,';

export const agentUri = (card: string): string => AGENT_CARD + encodeURIComponent(card);

/** True for a whole card in several lines. The line of BEGIN alone would nest the card in the one around it. */
export function isCard(text: string): boolean {
  return /^BEGIN\s*:\s*VCARD\s*\n./i.test(text) && /\nEND\s*:\s*VCARD$/i.test(text);
}

/** The text of the card in a URI of `agentUri`; undefined for other URIs. */
export function agentCard(uri: string): string | undefined {
  const text = uri.startsWith(AGENT_CARD) ? decoded(uri.slice(AGENT_CARD.length)) : '';
  return isCard(text) ? text : undefined;
}
