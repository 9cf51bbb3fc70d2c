/** A reaction of a message as it is stored and shown. */
export interface Reaction {
  emoji: string;
  count: number;
  user_ids: string[];
}

/** Selectors of the presentation, which some clients send with an emoji. */
const PRESENTATION = /[\uFE0E\uFE0F]/gu;

/** What makes two reactions the same: clients send names in any case and form of Unicode. */
export const emojiKey = (emoji: string): string =>
  emoji.replace(PRESENTATION, '').normalize('NFC').toLowerCase().normalize('NFC');

/**
 * The reactions of a message after a user has added or removed one, in the order of the first use. An emoji keeps the form of its
 * first use. Joins stored reactions that are the same, which earlier versions counted separately.
 */
export function changeReactions(
  stored: readonly Reaction[],
  userId: string,
  { emoji, on }: { emoji: string; on: boolean },
): Reaction[] {
  const changed = emojiKey(emoji);
  const uses = stored.flatMap(({ emoji: shown, user_ids }) =>
    user_ids.map((user) => ({ key: emojiKey(shown), emoji: shown, user })),
  );
  const kept = uses.filter(({ key, user }) => on || key !== changed || user !== userId);
  if (on) kept.push({ key: changed, emoji, user: userId });
  const reactions = new Map<string, { emoji: string; users: Set<string> }>();
  for (const { key, emoji: shown, user } of kept) {
    const reaction = reactions.get(key) ?? { emoji: shown, users: new Set() };
    reactions.set(key, reaction);
    reaction.users.add(user);
  }
  return [...reactions.values()].map(({ emoji: shown, users }) => ({
    emoji: shown,
    count: users.size,
    user_ids: [...users],
  }));
}
