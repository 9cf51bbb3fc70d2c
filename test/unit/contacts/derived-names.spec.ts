import { emptyCard, patchCard } from '../../../src/lib/contact-card/index.js';
import { newCard, writeCard } from '../../../src/lib/vcard/index.js';

const none = {
  prefix: null,
  given: null,
  middle: null,
  family: null,
  suffix: null,
  phonetic_given: null,
  phonetic_family: null,
};

describe('the full name of a contact that has only the parts of a name', () => {
  test.each([
    ['Japanese', { family: '山田', given: '太郎' }, '山田 太郎'],
    ['Japanese in hiragana', { family: 'さとう', given: 'はなこ' }, 'さとう はなこ'],
    ['Chinese', { family: '王', given: '小明', suffix: '博士' }, '王 小明 博士'],
    ['Korean', { family: '김', given: '민준' }, '김 민준'],
    ['of another script', { prefix: 'Dr.', family: 'Holm', given: 'Ina', suffix: 'Jr.' }, 'Dr. Ina Holm Jr.'],
    ['of two scripts', { family: '山田', given: 'Maria' }, 'Maria 山田'],
    ['one part', { family: '山田' }, '山田'],
  ])('%s', (_, parts, full) => {
    const name = { ...none, ...parts };
    expect(patchCard({ name }, emptyCard(), null).full_name).toBe(full);
    expect(writeCard(newCard({ name }), { version: '4.0' })).toContain(`FN;DERIVED=TRUE:${full}\r\n`);
  });
});
