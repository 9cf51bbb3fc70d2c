import { createRequire } from 'node:module';
import ICAL from 'ical.js';
import { CARD_VERSIONS, newCard, readCard, writeCard } from '../../../src/lib/vcard/index.js';

/** The parts of `vcf` that the tests use; the package has no types. */
interface VcfProperty {
  valueOf(): string;
}
interface Vcf {
  get(name: string): VcfProperty | VcfProperty[];
  add(name: string, value: string, params?: Record<string, string>): void;
  toString(version: string): string;
}
const VCF = createRequire(import.meta.url)('vcf') as { new (): Vcf; parse(text: string): Vcf[] };

const entry = { label: null, types: ['work'], primary: false };
const card = newCard({
  uid: '4fbe8971-0bc3-424c-9c26-36c3e1eff6b1',
  full_name: 'Žofie Nováková, Ph.D.',
  name: {
    prefix: 'Dr.',
    given: 'Žofie',
    middle: null,
    family: 'Nováková',
    suffix: 'Ph.D., CSc.',
    phonetic_given: null,
    phonetic_family: null,
  },
  organization: { name: 'Město, a.s.', units: ['Nákup'] },
  emails: [{ ...entry, value: 'zofie@example.cz', label: 'Úřad' }],
  phones: [{ ...entry, value: '+420 777 123 456', extension: null, types: ['cell'], primary: true }],
  notes: `První řádek\nDruhý s čárkou, ${'a dlouhým textem '.repeat(10)}konec`,
  categories: ['Přátelé', 'A, B'],
  dates: [{ type: 'birthday', year: 1985, month: 4, day: 12, label: null }],
  photo: { media_type: 'image/png', data: Buffer.alloc(200, 7) },
});

describe.each(CARD_VERSIONS)('vCard %s and independent libraries', (version) => {
  const text = writeCard(card, { version });

  it('ical.js reads the card', () => {
    const read = new ICAL.Component(ICAL.parse(text) as unknown[]);
    const value = (name: string): unknown => read.getFirstPropertyValue(name);
    expect(value('version')).toBe(version);
    expect(value('fn')).toBe('Žofie Nováková, Ph.D.');
    expect(value('n')).toEqual(['Nováková', 'Žofie', '', 'Dr.', 'Ph.D., CSc.']);
    expect(value('note')).toBe(card.notes);
    expect(read.getFirstProperty('categories')?.getValues()).toEqual(['Přátelé', 'A, B']);
    expect(value('org')).toEqual(['Město, a.s.', 'Nákup']);
    expect(String(value('bday'))).toBe('1985-04-12');
    const tel = read.getFirstProperty('tel');
    expect(tel?.getFirstValue()).toBe('+420 777 123 456');
    if (version === '4.0') expect(tel?.getParameter('pref')).toBe('1');
  });

  it('vcf reads the card', () => {
    const [read] = VCF.parse(text) as [Vcf];
    const value = (name: string): string => (read.get(name) as VcfProperty).valueOf();
    expect(value('fn')).toBe('Žofie Nováková\\, Ph.D.');
    expect(value('email')).toBe('zofie@example.cz');
    expect(value('tel')).toBe('+420 777 123 456');
    expect(value('note').replaceAll('\\', '')).toContain('konec');
  });

  it('a card of ical.js is read', () => {
    const component = new ICAL.Component('vcard');
    const add = (name: string, value: unknown): void => {
      const property = new ICAL.Property(name, component);
      if (Array.isArray(value) && name !== 'n') property.setValues(value);
      else property.setValue(value);
      component.addProperty(property);
    };
    add('version', version);
    add('fn', 'Žofie, Nováková');
    add('n', ['Nováková', 'Žofie', '', 'Dr.', 'Ph.D.']);
    add('note', 'a;b,c\nd\\e');
    add('categories', ['x,y', 'z']);
    add('email', 'zofie@example.cz');
    expect(readCard(component.toString())).toMatchObject({
      full_name: 'Žofie, Nováková',
      name: { family: 'Nováková', given: 'Žofie', prefix: 'Dr.', suffix: 'Ph.D.' },
      notes: 'a;b,c\nd\\e',
      categories: ['x,y', 'z'],
      emails: [{ value: 'zofie@example.cz' }],
    });
  });

  it('a card of vcf is read', () => {
    const written = new VCF();
    written.add('fn', 'Žofie Nováková');
    written.add('n', 'Nováková;Žofie;;Dr.;');
    written.add('tel', '+420 777 123 456', { type: 'cell' });
    written.add('note', 'dlouhá poznámka '.repeat(12));
    expect(readCard(written.toString(version))).toMatchObject({
      full_name: 'Žofie Nováková',
      name: { family: 'Nováková', given: 'Žofie', prefix: 'Dr.' },
      phones: [{ value: '+420 777 123 456', types: ['cell'] }],
      notes: 'dlouhá poznámka '.repeat(12).trim(),
    });
  });
});
