// A company runs itself: the owner invites a colleague, who forgets the password, must enable a second factor, signs in with a
// passkey, loses it and is removed. Owner and colleague have a browser each; their mails arrive at a relay.
import assert from 'node:assert/strict';
import { simpleParser } from 'mailparser';
import { Secret, TOTP } from 'otpauth';
import { SMTPServer } from 'smtp-server';
import { openBrowser } from './support/browser.mjs';
import { look, pictureOfFailure } from './support/pictures.mjs';
import { startServer } from './support/server.mjs';
import { SwaggerPage } from './support/swagger-page.mjs';

const COLLEAGUE = 'carla@colleagues.example';
const FIRST_PASSWORD = 'seven purple teapots dance';
const SECOND_PASSWORD = 'nine yellow rivers sing';
const MAIL_MS = 60_000;

let server;
let relay;
let owner;
let colleague;
let passkeys = [];
let recoveryCodes = [];
const mails = [];

/** A relay that stores the received mails. */
async function startRelay() {
  const smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    authOptional: true,
    logger: false,
    onData: (stream, _session, done) => {
      const chunks = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        mails.push(Buffer.concat(chunks));
        done();
      });
    },
  });
  await new Promise((resolve) => smtp.listen(0, '127.0.0.1', resolve));
  return smtp;
}

/** The link in the newest mail with this subject. */
async function linkIn(subject) {
  const end = Date.now() + MAIL_MS;
  for (;;) {
    const parsed = await Promise.all(mails.map((raw) => simpleParser(raw)));
    const mail = parsed.findLast((each) => subject.test(each.subject));
    const [link] = /http:\/\/\S+\/account\/\S+/.exec(mail?.text ?? '') ?? [];
    if (link) return link;
    assert.ok(Date.now() < end, `no mail with the subject ${subject}`);
    await owner.page.waitForTimeout(200);
  }
}

/** A browser with the documentation page. */
async function open() {
  const browser = await openBrowser(new URL(server.docs).origin);
  return Object.assign(browser, { swagger: new SwaggerPage(browser.page) });
}

/** Executes an operation on a new page. @returns status and JSON of the response */
async function call(who, tag, operationId, { edit, ...parameters } = {}) {
  await who.page.goto(server.docs);
  await who.swagger.filter(tag);
  const { status } = await who.swagger.execute(tag, operationId, edit, { parameters });
  await look(who.swagger.operation(tag, operationId), `company ${operationId} ${status}`);
  return { status, body: await who.swagger.shown(tag, operationId) };
}

async function ok(who, tag, operationId, parameters) {
  const { status, body } = await call(who, tag, operationId, parameters);
  assert.ok(status.startsWith('2'), `${operationId}: ${status} ${JSON.stringify(body)}`);
  return body;
}

const signIn = async (who, email, password) => {
  await who.page.goto(server.docs);
  await who.swagger.filter('settings');
  await who.swagger.signIn(async (popup) => {
    await popup.getByLabel('Email address').fill(email);
    await popup.getByLabel('Password').fill(password);
    await popup.keyboard.press('Enter');
  });
};

const codeOf = (secret) => new TOTP({ secret: Secret.fromBase32(secret) }).generate();

/** A virtual authenticator with user verification (Chrome DevTools Protocol, domain WebAuthn) for a page. */
async function addAuthenticator(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { session, authenticatorId };
}

/** The passkeys of a virtual authenticator. */
async function passkeysOf({ session, authenticatorId }) {
  const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
  return credentials;
}

/** Enables a second factor with the operations of the page. */
async function enrol(who, password) {
  const { secret } = await ok(who, 'auth', 'initiateTwoFactor', { edit: () => ({ password }) });
  const { recovery_codes: codes } = await ok(who, 'auth', 'enableTwoFactor', {
    edit: () => ({ code: codeOf(secret) }),
  });
  assert.equal(codes.length, 10);
  return codes;
}

const steps = {
  'company: the owner invites a colleague': async () => {
    relay = await startRelay();
    // Her address is outside: the mail service of the workspace would deliver the mails into a mailbox that she opens with the
    // password she forgot.
    server = await startServer({
      MAIL_SERVICE_URL: 'http://127.0.0.1:9',
      MAIL_ACCOUNTS: 'link',
      SMTP_URL: `smtp://127.0.0.1:${relay.server.address().port}`,
    });
    owner = await open();
    await owner.page.goto(server.docs);
    await owner.swagger.authorise(server.token);
    const edit = () => ({ email: COLLEAGUE, role: 'member', message: 'Welcome to the team.' });
    const { invitation } = await ok(owner, 'tenant', 'createInvitation', { edit });
    assert.equal(invitation.state, 'pending');
  },
  'the colleague accepts in another browser': async () => {
    colleague = await open();
    const { page } = colleague;
    await page.goto(await linkIn(/invites you to/));
    await look(page, 'company accept');
    await page.getByLabel('Your name').fill('Carla Colleague');
    await page.getByLabel('New password').fill('password1234');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByText('too easy to guess').waitFor();
    await look(page, 'company accept error');
    await page.getByLabel('New password').fill(FIRST_PASSWORD);
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByText('You are a member now.').waitFor();
    await look(page, 'company accepted');
  },
  'she signs in': async () => {
    await signIn(colleague, COLLEAGUE, FIRST_PASSWORD);
    const { profile } = await ok(colleague, 'settings', 'readProfile');
    assert.equal(profile.email, COLLEAGUE);
  },
  'she forgets the password, and sets a new one by a link': async () => {
    const { page } = colleague;
    await page.context().clearCookies();
    await page.goto(`${new URL(server.docs).origin}/apis/v1/account/password`);
    await look(page, 'company forgot');
    await page.getByLabel('Email address').fill(COLLEAGUE);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText('Check your mailbox').waitFor();
    await look(page, 'company forgot sent');
    await page.goto(await linkIn(/Set a new password/));
    await page.getByLabel('New password').fill(SECOND_PASSWORD);
    await look(page, 'company new password');
    await page.getByRole('button', { name: 'Set a new password' }).click();
    await page.getByText('All sessions have ended.').waitFor();
    await page.goto(server.docs);
    assert.equal((await call(colleague, 'settings', 'readProfile')).status, '401');
    await colleague.swagger.unauthorise();
    await signIn(colleague, COLLEAGUE, SECOND_PASSWORD);
    await ok(colleague, 'settings', 'readProfile');
  },
  'the owner requires a second factor, and the colleague enables one': async () => {
    const edit = () => ({ second_factor: { required: true, grace_days: 0 } });
    await ok(owner, 'tenant', 'updateTenantPolicy', { edit });
    const shut = await call(colleague, 'settings', 'readProfile');
    assert.deepEqual([shut.status, shut.body.error], ['403', 'second_factor_enrolment_required']);
    recoveryCodes = await enrol(colleague, SECOND_PASSWORD);
    await ok(colleague, 'settings', 'readProfile');
    // The rule applies to the owner too.
    assert.equal((await call(owner, 'tenant', 'readTenantPolicy')).status, '403');
    await enrol(owner, server.password);
    await ok(owner, 'tenant', 'readTenantPolicy');
  },
  'she adds a passkey on its page': async () => {
    const { url } = await ok(colleague, 'settings', 'createPasskeyPage', {
      edit: () => ({ password: SECOND_PASSWORD }),
    });
    const { page } = colleague;
    const authenticator = await addAuthenticator(page);
    await page.goto(url);
    await look(page, 'company passkeys none');
    await page.getByLabel('Name').fill('Laptop');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('Not used yet.').waitFor();
    await look(page, 'company passkeys');
    passkeys = await passkeysOf(authenticator);
    assert.equal(passkeys.length, 1);
    await authenticator.session.detach();
  },
  'she signs in with the passkey alone': async () => {
    await colleague.page.context().clearCookies();
    await colleague.page.goto(server.docs);
    await colleague.swagger.unauthorise();
    await colleague.swagger.filter('settings');
    await colleague.swagger.signIn(async (popup) => {
      const { session, authenticatorId } = await addAuthenticator(popup);
      for (const credential of passkeys)
        await session.send('WebAuthn.addCredential', { authenticatorId, credential });
      await look(popup, 'company sign-in passkey');
      await popup.getByRole('button', { name: 'Sign in with a passkey' }).click();
    });
    const { profile } = await ok(colleague, 'settings', 'readProfile');
    assert.equal(profile.email, COLLEAGUE);
  },
  'she loses the passkey, and signs in with a recovery code': async () => {
    await colleague.page.context().clearCookies();
    await colleague.page.goto(server.docs);
    await colleague.swagger.unauthorise();
    await colleague.swagger.filter('settings');
    await colleague.swagger.signIn(async (popup) => {
      await popup.getByLabel('Email address').fill(COLLEAGUE);
      await popup.getByLabel('Password').fill(SECOND_PASSWORD);
      await popup.keyboard.press('Enter');
      await popup.getByRole('heading', { name: 'Confirm with your passkey' }).waitFor();
      await look(popup, 'company second factor passkey');
      await popup.getByRole('button', { name: 'Use a recovery code instead' }).click();
      await popup.getByLabel('Recovery code').fill(recoveryCodes[0]);
      await popup.keyboard.press('Enter');
    });
    await ok(colleague, 'settings', 'readProfile');
  },
  'the owner removes the colleague': async () => {
    const { members } = await ok(owner, 'tenant', 'listTenantMembers');
    const { user_id } = members.find(({ email }) => email === COLLEAGUE);
    await ok(owner, 'tenant', 'deactivateTenantMember', { user_id });
    await colleague.page.goto(server.docs);
    assert.equal((await call(colleague, 'settings', 'readProfile')).status, '401');
  },
};

export const company = {
  steps,
  failed: async () => {
    await pictureOfFailure(owner);
    await pictureOfFailure(colleague);
  },
  end: async () => {
    await owner?.close();
    await colleague?.close();
    await server?.stop();
    relay?.close();
  },
};
