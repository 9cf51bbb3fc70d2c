import type { TestApp } from '../support/app.ts';
import { readExamples, runExamples } from '../support/sdk/examples.ts';
import { REDIRECT } from '../support/sign-in/relying-party.ts';
import { browser, clientFile, newUser, PASSWORD, startSignIn } from '../support/sign-in/sign-in.ts';
import { MemoryStorage } from '@workspace-backend/client/sign-in';

const CLIENTS = [{ id: 'app', kind: 'public', name: 'App', first_party: true, redirect_uris: [REDIRECT] }];
const ORIGIN = 'https://workspace.example';

describe('sdk/README.md', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile(CLIENTS) });
  });
  afterAll(() => app?.stop());

  test('has at least ten examples, which print what they say', async () => {
    const [alice] = await app.tenant('globex', 'alice');
    const { email } = await newUser(app, 'bob', 'acme');
    const examples = readExamples().map((example) => ({
      ...example,
      body: example.body.replaceAll(ORIGIN, app.base),
    }));
    expect(examples.length).toBeGreaterThanOrEqual(10);
    const signInPage = async (url: string) => {
      const on = browser(app);
      return (await on.submit(await on.open(url), { email, password: PASSWORD, step: 'password' })).url;
    };
    let opened: Promise<void> = Promise.resolve();
    const location = {
      href: '',
      assign(url: URL) {
        opened = signInPage(url.href).then((href) => void (location.href = href));
      },
    };
    const terminal = {
      async show(line: string): Promise<void> {
        const on = browser(app);
        const shown = await on.submit(await on.open(line.replace('Open ', '')), {});
        const page = await on.submit(shown, { confirm: 'yes' });
        await on.submit(page, { email, password: PASSWORD, step: 'password' });
      },
    };
    const globals = {
      accessToken: alice.token,
      userId: alice.id,
      location,
      localStorage: new MemoryStorage(),
      terminal,
    };
    const printed = await runExamples(examples, globals, () => opened);
    expect(printed).toEqual(examples.map(({ prints }) => prints));
  });
});
