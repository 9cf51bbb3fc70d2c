import { v5 as uuidv5 } from 'uuid';
import { type Card, type CardResult } from '../../../lib/vcard/index.js';
import { ApiError } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import { validated } from '../../../platform/http/input.pipe.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import { newContactCard, contentHash } from '../contact-values.js';
import { CardFieldsInput } from '../contact.dto.js';
import { type ContactCard, MAX_UID } from '../../../lib/contact-card/index.js';
import type { ImportProblem } from './import.entity.js';
import { ImportedContact } from './phone.dto.js';

/** A card of an import in the stored form of contacts. */
export interface ImportedCard {
  index: number;
  uid: string;
  externalId: string | undefined;
  card: ContactCard;
  /** SHA-256, hexadecimal. */
  hash: string;
}
export type ImportEntry = ImportedCard | ImportProblem;

/** Characters of a LOGO, SOUND or KEY that a contact keeps; longer ones would fill it. */
const MAX_MEDIA = 16_384;

/** @param country of telephone numbers without an international prefix */
export function fromVcard(result: CardResult, country: string | null): ImportEntry {
  const { index } = result;
  if ('error' in result) {
    const { code: error, message } = result.error;
    return { index, name: null, error, message };
  }
  const { uid, photo: _, ...fields } = result.card;
  return entryOf(index, fields.full_name, () => {
    const input = validated(CardFieldsInput, { ...fields, custom: withoutMedia(fields.custom) });
    return { uid, externalId: undefined, card: newContactCard(input, country) };
  });
}

/** @param plain an entry of the JSON body */
export function fromJson(index: number, plain: unknown, country: string | null): ImportEntry {
  const name = (plain as { full_name?: unknown } | null)?.full_name;
  return entryOf(index, typeof name === 'string' ? name.slice(0, 200) : null, () => {
    const { uid = null, external_id: externalId, ...fields } = validated(ImportedContact, plain);
    return { uid, externalId, card: newContactCard(fields, country) };
  });
}

function entryOf(
  index: number,
  name: string | null,
  make: () => { uid: string | null; externalId: string | undefined; card: ContactCard },
): ImportEntry {
  try {
    const { uid, externalId, card } = make();
    const hash = contentHash(JSON.stringify(card));
    return { index, uid: storedUid(uid, hash), externalId, card, hash };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [problem] = error.extras.details ?? [];
    const code =
      error.kind === Errors.validationFailed && problem?.field === '' ? problem.code : error.kind.code;
    return { index, name, error: code, message: problem?.message ?? error.message };
  }
}

const UIDS = '5f0b9d3c-7c62-5c0e-9a36-2d7a1f0c8e11';

/** A card without a uid gets one of its content, so that a repeated import finds its contact. */
function storedUid(uid: string | null, hash: string): string {
  if (uid === null) return uuidv5(hash, UIDS);
  return uid.length <= MAX_UID && isStorable(uid) ? uid : uuidv5(uid, UIDS);
}

function withoutMedia(custom: Card['custom']): Card['custom'] {
  return custom.filter(({ value }) => !value.startsWith('data:') || value.length <= MAX_MEDIA);
}
