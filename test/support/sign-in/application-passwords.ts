import { ApplicationPasswordProviders } from '../../../src/modules/account-security/index.js';
import { SCOPES } from '../../../src/modules/account-security/application-passwords/application-password-provider.js';
import type { TestApp } from '../app.ts';

/** Registers servers of all protocols, which verify application passwords at the workspace and store none. */
export function acceptApplicationPasswords(...apps: TestApp[]): void {
  for (const app of apps)
    app.get<ApplicationPasswordProviders>(ApplicationPasswordProviders).register({
      protocols: SCOPES,
      concerns: () => false,
      create: async () => null,
      remove: async () => undefined,
    });
}
