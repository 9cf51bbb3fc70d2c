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

  test.each([
    ['by this version', '山田 太郎'],
    ['by a version that had one order for all names', '太郎 山田'],
  ])('follows a change of a part where it was derived %s', (_, full) => {
    const name = { ...none, family: '山田', given: '太郎' };
    const stored = { ...patchCard({ name }, emptyCard(), null), full_name: full };
    const changed = patchCard({ name: { ...name, family: '佐藤' } }, stored, null);
    expect(changed.full_name).toBe('佐藤 太郎');
    const own = patchCard({ name: { ...name, family: '佐藤' } }, { ...stored, full_name: 'Taro' }, null);
    expect(own.full_name).toBe('Taro');
  });
});
