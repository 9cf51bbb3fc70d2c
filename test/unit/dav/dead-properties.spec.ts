import { readXml } from '../../../src/lib/xml/index.js';
import { changedProperties } from '../../../src/modules/dav/model/collection.js';

describe('properties of collections that only programs know', () => {
  const changed = async (markup: string) =>
    changedProperties({}, new Map([['{urn:x}note', await readXml(markup, { depth: 9, nodes: 500 })]]));

  test('are kept', async () => {
    expect(await changed('<note xmlns="urn:x">a<b/></note>')).toEqual({
      '{urn:x}note': '<note xmlns="urn:x">a<b/></note>',
    });
  });

  test('are not written out when each child repeats a long namespace', async () => {
    const children = '<p:a/>'.repeat(100);
    expect(await changed(`<note xmlns="urn:x" xmlns:p="${'p'.repeat(1_000)}">${children}</note>`)).toBeNull();
  });
});
