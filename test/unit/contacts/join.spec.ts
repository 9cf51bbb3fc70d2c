import { emptyCard, joinCards, patchCard } from '../../../src/lib/contact-card/index.js';

test('a card keeps another form of its own value when it joins one with the same', () => {
  const custom = [{ group: null, name: 'SORT-STRING', params: {}, value: 'Miller' }];
  const cardOf = (full_name: string) => patchCard({ full_name, custom }, emptyCard(), null);
  expect(joinCards(cardOf('Ann Miller'), cardOf('Anna Miller')).custom).toContainEqual(custom[0]);
});
