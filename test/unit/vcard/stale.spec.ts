import { type Card, readCard, withoutStale } from '../../../src/lib/vcard/index.js';

const read = (version: string, ...rows: string[]): Card =>
  readCard(`BEGIN:VCARD\r\nVERSION:${version}\r\nFN:Ina\r\n${rows.join('\r\n')}\r\nEND:VCARD\r\n`);
const left = (before: Card, change: Partial<Card>): string[] =>
  withoutStale(before, { ...before, ...change }).map(({ name, value }) => `${name}:${value}`);

describe('properties that depend on a value', () => {
  const name = { ...read('3.0', 'N:Lind;Eva;;;').name! };

  test.each<[string, string[], Partial<Card>, string[]]>([
    ['4.0', ['N;ALTID=1;LANGUAGE=ja:小川;光;;;', 'N;ALTID=1;LANGUAGE=en:Ogawa;H;;;'], { name }, []],
    [
      '4.0',
      ['ORG;ALTID=1;LANGUAGE=en:Yard', 'ORG;ALTID=1;LANGUAGE=nb:Verft', 'ORG;ALTID=2:Other'],
      { organization: { name: 'New', units: [] } },
      ['ORG:Other'],
    ],
    ['4.0', ['TITLE;ALTID=1:Joiner', 'TITLE;ALTID=1;LANGUAGE=nb:Snekker'], { job_title: 'Boss' }, []],
    ['4.0', ['BDAY;ALTID=1:19840626', 'BDAY;ALTID=1;CALSCALE=chinese:46460605'], { dates: [] }, []],
    ['3.0', ['N:Holm;Ina;;;', 'SORT-STRING:Holm', 'X-PHONETIC-MIDDLE-NAME:Bo'], { name }, []],
    ['3.0', ['ORG:Boatyard', 'X-PHONETIC-ORG:Botjard'], { organization: { name: 'New', units: [] } }, []],
    ['3.0', ['BDAY:1984-06-26', 'X-ALTBDAY;CALSCALE=chinese:46460605'], { dates: [] }, []],
  ])('%s %j is removed with it', (version, rows, change, expected) => {
    const card = read(version, ...rows);
    const all = card.custom.map((property) => `${property.name}:${property.value}`);
    // The card kept something to remove, and another change removes nothing.
    expect(all.length).toBeGreaterThan(expected.length);
    expect(left(card, { notes: 'new' }).toSorted()).toEqual(all.toSorted());
    expect(left(card, change)).toEqual(expected);
  });

  test('stays if it is written together with the value', () => {
    const card = read('3.0', 'N:Holm;Ina;;;', 'SORT-STRING:Holm');
    const custom = [{ group: null, name: 'SORT-STRING', params: {}, value: 'Lind' }];
    expect(left(card, { name, custom })).toEqual(['SORT-STRING:Lind']);
    const alternatives = ['ORG;ALTID=1;LANGUAGE=en:New', 'ORG;ALTID=1;LANGUAGE=nb:Ny'];
    const { organization, custom: sent } = read('4.0', ...alternatives);
    const before = read('4.0', 'ORG;ALTID=1;LANGUAGE=en:Yard', 'ORG;ALTID=1;LANGUAGE=nb:Verft');
    expect(left(before, { organization, custom: sent }).toSorted()).toEqual(['ORG:New', 'ORG:Ny']);
  });
});
