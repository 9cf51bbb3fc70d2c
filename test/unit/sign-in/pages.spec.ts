import fc from 'fast-check';
import { parse } from 'parse5';
import { html } from '../../../src/platform/html/html-tag.js';
import { chooseLanguage } from '../../../src/modules/sign-in/pages/layout.js';
import { formTargetOf } from '../../../src/modules/sign-in/pages/provider-pages.js';
import { redirectUriProblem } from '../../../src/modules/sign-in/clients/client-uris.js';
import { runs } from '../../support/property-runs.ts';

/** Elements and attributes of a document, as parsed by a browser. */
function elements(text: string): string[] {
  const found: string[] = [];
  const walk = (node: any): void => {
    if (node.tagName) found.push(`${node.tagName}[${node.attrs.map(({ name }: { name: string }) => name)}]`);
    for (const child of node.childNodes ?? []) walk(child);
  };
  walk(parse(text));
  return found;
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^[<>"'&/=a-z !-]{0,30}$/),
  fc.constantFrom(
    '<script>alert(1)</script>',
    '" onload="x',
    "'><img src=x>",
    '</p><b>',
    '&lt;',
    '<!--',
    ']]>',
  ),
);

describe('the pages', () => {
  test('keep their elements and attributes with any values', () => {
    const page = (text: string) => html`<p title="${text}">${text}${[html`<i>${text}</i>`]}</p>`.text;
    const plain = elements(page(''));
    fc.assert(
      fc.property(hostile, (text) => {
        expect(elements(page(text))).toEqual(plain);
      }),
      { numRuns: runs(500) },
    );
  });

  test('omit missing values, and keep numbers', () => {
    expect(html`${null}${undefined}${false}${0}${''}${[]}`.text).toBe('0');
  });

  test('have a supported language for any request', () => {
    fc.assert(
      fc.property(
        fc.oneof(hostile, fc.constant(undefined)),
        fc.option(hostile, { nil: undefined }),
        (ui, accepted) => {
          expect(['en', 'de', 'pt', 'vi']).toContain(chooseLanguage(ui, accepted));
        },
      ),
    );
    expect(chooseLanguage(undefined, 'fr;q=1, vi;q=0.2, de;q=0.7')).toBe('de');
    expect(chooseLanguage('pt-BR', 'de')).toBe('pt');
  });

  test('name the form target in their policy, and nothing more', () => {
    expect(formTargetOf('https://app.example:8443/cb?x=1')).toBe('https://app.example:8443');
    expect(formTargetOf('com.example.app:/cb')).toBe('com.example.app:');
    expect(formTargetOf('nonsense')).toBeNull();
    fc.assert(
      fc.property(fc.oneof(hostile, fc.webUrl()), (uri) => {
        if (redirectUriProblem(uri) === null)
          expect(formTargetOf(uri)).toMatch(/^[a-z][a-z0-9+.-]*:(\/\/[^\s;,'"]+)?$/);
      }),
    );
  });
});
