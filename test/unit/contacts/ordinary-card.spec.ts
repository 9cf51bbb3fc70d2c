import fc from 'fast-check';
import { isOrdinary } from '../../../src/modules/contacts/phone/card-limits.js';
import { CardFieldsInput } from '../../../src/modules/contacts/input/contact.dto.js';
import { newCard, readCard, writeCard } from '../../../src/lib/vcard/index.js';
import { validated } from '../../../src/platform/http/input.pipe.js';
import { anyCard } from '../vcard/cards.ts';
import { runs } from '../../support/property-runs.ts';

const fieldsOf = (text: string) => {
  const { uid: _, photo: __, ...fields } = readCard(text);
  return fields;
};

describe('ordinary cards', () => {
  test('a common card is ordinary; one beyond a limit is not', () => {
    const card = newCard({ full_name: 'Maria Silva', notes: 'x'.repeat(500) });
    expect(isOrdinary(fieldsOf(writeCard(card, { version: '4.0' })))).toBe(true);
    expect(isOrdinary(newCard({ full_name: 'x'.repeat(2_000) }))).toBe(false);
    const custom = [{ group: null, name: 'X-'.repeat(40), params: {}, value: 'a' }];
    expect(isOrdinary(newCard({ full_name: 'a', custom }))).toBe(false);
  });

  test('the validation accepts every ordinary card', () => {
    let ordinary = 0;
    fc.assert(
      fc.property(anyCard, fc.nat(80), (card, length) => {
        const long = { ...card, job_title: 'x'.repeat(length * 20) || null };
        const fields = fieldsOf(writeCard(length > 70 ? long : card, { version: '4.0' }));
        fc.pre(isOrdinary(fields));
        ordinary += 1;
        validated(CardFieldsInput, fields);
      }),
      { numRuns: runs(200) },
    );
    expect(ordinary).toBeGreaterThan(runs(200) / 4);
  });
});
