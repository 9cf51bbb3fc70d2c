import { loggedPath } from '../../../src/platform/observability/request-lifecycle.js';
import { openApi } from '../../support/contract/operations.ts';

describe('paths in logs', () => {
  const paths = Object.keys(openApi().paths).filter((path) => /\{(?:\w+_)?token\}/.test(path));

  test.each(paths)('%s contains no token', (path) => {
    const logged = loggedPath(path.replace(/\{(?:\w+_)?token\}/, 'credential'));
    expect(logged).toContain('[redacted]');
    expect(logged).not.toContain('credential');
  });

  test('an unknown route below the address of an invite contains none either', () => {
    expect(loggedPath('/apis/v1/call/external/credential/unknown')).toBe(
      '/apis/v1/call/external/[redacted]/unknown',
    );
  });

  test('other paths stay', () => {
    for (const path of ['/apis/v1/notes/1', '/apis/v1/auth/socket/token'])
      expect(loggedPath(path)).toBe(path);
  });
});
