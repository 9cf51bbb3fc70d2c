import fc from 'fast-check';
import { changeReactions, emojiKey, type Reaction } from '../../../src/modules/chat/model/message-rules.js';
import { runs } from '../../support/property-runs.ts';

const add = (stored: readonly Reaction[], user: string, emoji: string) =>
  changeReactions(stored, user, { emoji, on: true });
const remove = (stored: readonly Reaction[], user: string, emoji: string) =>
  changeReactions(stored, user, { emoji, on: false });

const reaction = (emoji: string, ...users: string[]): Reaction => ({
  emoji,
  count: users.length,
  user_ids: users,
});

describe('reactions', () => {
  test('are listed in the order of their first use, with the users in theirs', () => {
    const one = add(add(add([], 'ann', '👍'), 'bob', '🎉'), 'bob', '👍');
    expect(one).toEqual([reaction('👍', 'ann', 'bob'), reaction('🎉', 'bob')]);
    expect(remove(one, 'ann', '👍')).toEqual([reaction('👍', 'bob'), reaction('🎉', 'bob')]);
    expect(remove(remove(one, 'ann', '👍'), 'bob', '👍')).toEqual([reaction('🎉', 'bob')]);
  });

  test('are the same in any presentation, case and form of Unicode; the first form stays', () => {
    const stored = add([], 'ann', '❤\uFE0F');
    expect(add(stored, 'bob', '❤')).toEqual([reaction('❤\uFE0F', 'ann', 'bob')]);
    expect(add(stored, 'ann', '❤\uFE0E')).toEqual(stored);
    expect(remove(add([], 'ann', ':Café:'), 'ann', ':cafe\u0301:')).toEqual([]);
    expect(emojiKey(':SHIPIT:')).toBe(emojiKey(':shipit:'));
    expect(emojiKey('👍')).not.toBe(emojiKey('👍🏽'));
  });

  test('that earlier versions counted separately are joined', () => {
    const stored = [reaction('❤', 'ann', 'bob'), reaction('🎉', 'ann'), reaction('❤\uFE0F', 'bob', 'eve')];
    expect(add(stored, 'zoe', '🎉')).toEqual([
      reaction('❤', 'ann', 'bob', 'eve'),
      reaction('🎉', 'ann', 'zoe'),
    ]);
    expect(remove(stored, 'bob', '❤')).toEqual([reaction('❤', 'ann', 'eve'), reaction('🎉', 'ann')]);
  });

  test('of a user count once; removing what was not added changes nothing', () => {
    const change = fc.record({
      user: fc.constantFrom('ann', 'bob', 'eve'),
      emoji: fc.constantFrom('👍', '❤', '❤\uFE0F', ':a:', ':A:'),
      on: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        let stored: Reaction[] = [];
        const expected = new Set<string>();
        for (const { user, emoji, on } of changes) {
          const before = stored;
          const key = `${user} ${emojiKey(emoji)}`;
          stored = changeReactions(stored, user, { emoji, on });
          if (expected.has(key) === on) expect(stored).toEqual(before);
          if (on) expected.add(key);
          else expected.delete(key);
        }
        const found = stored.flatMap(({ emoji, user_ids }) =>
          user_ids.map((user) => `${user} ${emojiKey(emoji)}`),
        );
        expect(found.toSorted()).toEqual([...expected].toSorted());
        expect(stored.every(({ count, user_ids }) => count === user_ids.length && count > 0)).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });
});
