import { type Card, type CardProperty, VcardError } from '../card.js';
import { companionOf, companionsIn } from '../companions.js';
import { Draft } from './draft.js';
import { ANNIVERSARIES } from './vendors.js';
import { HANDLERS } from './handlers.js';
import { ALTERNATIVE, preferredFirst, WRITTEN_ONCE } from '../values.js';
import { parseCard, type Property } from './properties.js';
import { CardSplitter, type RawCard, READ_LIMITS, type ReadLimits, utf8 } from './split.js';

/** One card of a file by its position, from 0, or the reason why it cannot be read. */
export type CardResult =
  /** `isUnfinished`: the card has no END:VCARD, so that a part of it may be missing. */
  { index: number; card: Card; isUnfinished?: true } | { index: number; error: VcardError };

/**
 * Reads the cards of a file of vCard 2.1, 3.0 or 4.0 one after another: UTF-8, UTF-16 with a byte order mark, and charsets that
 * 2.1 names with each property. Memory does not grow with the length of the file. A card that cannot be read is a result of
 * its own. A card without END:VCARD is read up to the next card or the end of the file.
 * @param charset that the sender of the file states, for properties without one
 * @throws VcardError `no_card` for a file without any card
 */
export async function* readCards(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limits: ReadLimits = READ_LIMITS,
  charset?: string,
): AsyncGenerator<CardResult> {
  const splitter = new CardSplitter(limits);
  const stated = { charset };
  let index = 0;
  for await (const chunk of utf8(source, stated)) {
    for (const raw of splitter.push(chunk))
      yield { index: index++, ...resultOf(raw, limits, stated.charset) };
  }
  for (const raw of splitter.end()) yield { index: index++, ...resultOf(raw, limits, stated.charset) };
  if (index === 0) throw new VcardError('no_card', 'The file contains no vCard.');
}

/** The number of cards of a file, those that cannot be read included. It costs a small part of reading them. */
export async function countCards(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<number> {
  const splitter = new CardSplitter({ cardBytes: 0 });
  let count = 0;
  for await (const chunk of utf8(source)) count += [...splitter.push(chunk)].length;
  return count + [...splitter.end()].length;
}

/**
 * The first card of a text.
 * @throws VcardError also for a card without END:VCARD, which could replace a longer one
 */
export function readCard(text: string, limits: ReadLimits = READ_LIMITS): Card {
  const splitter = new CardSplitter(limits);
  for (const raw of [...splitter.push(Buffer.from(text)), ...splitter.end()]) {
    const result = resultOf(raw, limits);
    if ('error' in result) throw result.error;
    if (result.isUnfinished) throw new VcardError('unfinished_card', 'The card has no END:VCARD.');
    return result.card;
  }
  throw new VcardError('no_card', 'The text contains no vCard.');
}

function resultOf(
  raw: RawCard,
  { cardBytes }: ReadLimits,
  charset?: string,
): { card: Card; isUnfinished?: true } | { error: VcardError } {
  if ('problem' in raw)
    return { error: new VcardError(raw.problem, `The card is longer than ${cardBytes} bytes.`) };
  try {
    return { card: cardOf(raw.bytes, charset), ...(!raw.hasEnd && { isUnfinished: true }) };
  } catch (error) {
    if (error instanceof VcardError) return { error };
    throw error;
  }
}

/** Lines without meaning outside the file. */
const IGNORED = new Set(['BEGIN', 'END', 'VERSION', 'PRODID', 'REV', 'PROFILE']);

/** Parts of addresses. They are read last, because they may precede their address. */
const LATE = new Set(['LABEL', 'X-ABADR']);

function cardOf(bytes: Buffer, charset: string | undefined): Card {
  const lines = parseCard(bytes, charset);
  const draft = new Draft(lines);
  const given = lines.properties.filter((property) => !IGNORED.has(property.name) && hasValue(property));
  const names = new Set(given.map(({ name }) => name));
  // Version 3.0 has no ANNIVERSARY: programs write it in properties of their own.
  const isStated = (name: string): boolean =>
    (name === 'ANNIVERSARY' ? [...ANNIVERSARIES, 'X-ABDATE'] : [name]).some((each) => names.has(each));
  const properties = preferredFirst(
    given.flatMap((property) => {
      const alternative = alternativeOf(property);
      if (alternative === null) return property;
      // The program deleted the value to which this one is a further one, and kept a property that it does not know.
      return isStated(alternative) ? property : [];
    }),
  );
  const isLate = ({ name }: Property): boolean => LATE.has(name);
  const companions: CardProperty[] = [];
  for (const property of [...properties.filter((one) => !isLate(one)), ...properties.filter(isLate)]) {
    if (HANDLERS.get(property.name)?.(draft, property)) {
      const companion = companionOf(property, draft.isShared(property.group), draft.isOld);
      if (companion) companions.push(companion);
    } else {
      const alternative = alternativeOf(property);
      draft.keep(alternative === null ? property : { ...property, name: alternative });
    }
  }
  if (properties.length === 0) throw new VcardError('empty_card', 'The card has no content.');
  const card = draft.finish();
  if (companions.length > 0) card.custom.push(...companionsIn(card, companions));
  return card;
}

/** The name of a further value that version 3.0 has no place for; null for any other property. */
function alternativeOf({ name }: Property): string | null {
  const found = name.startsWith(ALTERNATIVE) ? name.slice(ALTERNATIVE.length) : '';
  return WRITTEN_ONCE.has(found) ? found : null;
}

function hasValue({ value, binary, nested }: Property): boolean {
  return value.trim() !== '' || Boolean(binary?.length) || Boolean(nested);
}
