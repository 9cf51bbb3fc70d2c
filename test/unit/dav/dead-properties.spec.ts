import { readXml } from '../../../src/lib/xml/index.js';
import { changedProperties } from '../../../src/modules/dav/model/dead-properties.js';

describe('properties of collections that only programs know', () => {
  const changed = (markup: string) =>
    changedProperties({}, new Map([['{urn:x}note', readXml(markup, { depth: 9, nodes: 500 })]]));

  test('are kept', () => {
    expect(changed('<note xmlns="urn:x">a<b/></note>')).toEqual({
      '{urn:x}note': '<note xmlns="urn:x">a<b/></note>',
    });
  });

  test('are not written out when each child repeats a long namespace', () => {
    const children = '<p:a/>'.repeat(100);
    expect(changed(`<note xmlns="urn:x" xmlns:p="${'p'.repeat(1_000)}">${children}</note>`)).toBeNull();
  });
});
