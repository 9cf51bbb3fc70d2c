import fc from 'fast-check';
import { colorOfName, nearestColorName } from '../../src/lib/color-names/index.js';

describe('colour names', () => {
  test.each([
    ['turquoise', '#40e0d0'],
    [' DarkRed ', '#8b0000'],
    ['grey', '#808080'],
    ['Cyan', '#00ffff'],
    ['transparent', null],
    ['#ff0000', null],
    ['constructor', null],
    ['', null],
  ])('%j is %j', (name, color) => expect(colorOfName(name)).toBe(color));

  test.each([
    ['#ff0000', 'red'],
    ['#2f80ed', 'dodgerblue'],
    ['#808080', 'gray'],
    ['#010203', 'black'],
  ])('the name nearest to %s is %s', (color, name) => expect(nearestColorName(color)).toBe(name));

  test('of a colour with a name is this name', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^#[0-9a-f]{6}$/), (color) => {
        const named = colorOfName(nearestColorName(color)) as string;
        expect(nearestColorName(named)).toBe(nearestColorName(color));
      }),
    );
  });
});
