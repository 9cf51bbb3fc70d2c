// A company runs itself: the owner invites a colleague, who forgets the password, must enable a second factor, signs in with a
// passkey, loses it, uses an application of the company and is removed. Owner and colleague have a browser each; their mails
// arrive at a relay.
import assert from 'node:assert/strict';
import { look, pictureOfFailure } from '../support/pictures.mjs';
import { startServer } from '../support/server.mjs';
import { until } from '../support/until.mjs';
import { Application } from './application.mjs';
import { addAuthenticator, codeOf, passkeysOf } from './authenticators.mjs';
import { Mailbox } from './mailbox.mjs';
import { call, forget, ok, openUser, signIn } from './users.mjs';

const COLLEAGUE = 'carla@colleagues.example';
const FIRST_PASSWORD = 'seven purple teapots dance';
const SECOND_PASSWORD = 'nine yellow rivers sing';

const mailbox = new Mailbox();
let server;
let owner;
let colleague;
let application;
let clientId;
let passkeys = [];
let recoveryCodes = [];

/** Signs in on the page, which requires a new second factor. @returns the recovery codes */
async function enrolAtSignIn(who, email, password) {
  let codes;
  await who.swagger.filter('settings');
  await who.swagger.signIn(async (popup) => {
    await popup.getByLabel('Email address').fill(email);
    await popup.getByLabel('Password').fill(password);
    await popup.keyboard.press('Enter');
    await popup.getByRole('heading', { name: 'Set up two-step sign-in' }).waitFor();
    await look(popup, 'company enrolment');
    const secret = (await popup.locator('#secret').innerText()).replaceAll(/\s/g, '');
    await popup.getByLabel('Code from your authenticator app').fill('000000');
    await popup.keyboard.press('Enter');
    await popup.getByRole('alert').waitFor();
    await popup.getByLabel('Code from your authenticator app').fill(codeOf(secret));
    await popup.keyboard.press('Enter');
    await popup.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    await look(popup, 'company enrolment recovery codes');
    codes = await popup.locator('li code').allInnerTexts();
    await popup.getByRole('button', { name: 'I have saved the codes' }).click();
  });
  assert.equal(codes.length, 10);
  return codes;
}

async function withPassword(page) {
  await page.getByLabel('Email address').fill(COLLEAGUE);
  await page.getByLabel('Password').fill(SECOND_PASSWORD);
  await page.keyboard.press('Enter');
}

/** Signs in the colleague without her passkey. */
async function withRecoveryCode(page) {
  await withPassword(page);
  await page.getByRole('heading', { name: 'Confirm with your passkey' }).waitFor();
  await look(page, 'company second factor passkey');
  await page.getByRole('button', { name: 'Use a recovery code instead' }).click();
  await page.getByLabel('Recovery code').fill(recoveryCodes.pop());
  await page.keyboard.press('Enter');
}

/** @returns the text of the page of the consent */
async function consentText() {
  const { page } = colleague;
  await page.getByRole('heading', { name: 'Allow Time sheets?' }).waitFor();
  return page.locator('main').innerText();
}

async function allow() {
  await colleague.page.getByRole('button', { name: 'Allow', exact: true }).click();
  await colleague.page.getByRole('heading', { name: 'Time sheets of Carla Colleague' }).waitFor();
}

/** The tokens of the application are invalid, the refresh token too. */
async function assertDisconnected() {
  await until(async () => (await application.read('/notes')).status === 401);
  await assert.rejects(application.refresh(), { error: 'invalid_grant' });
}

const steps = {
  'company: the owner invites a colleague': async () => {
    await mailbox.start();
    // The colleague has an address at another server: the mail service of the workspace would deliver the mails to a mailbox
    // that needs the forgotten password.
    server = await startServer({
      MAIL_SERVICE_URL: 'http://127.0.0.1:9',
      MAIL_ACCOUNTS: 'link',
      SMTP_URL: mailbox.url,
    });
    owner = await openUser(server, 'company');
    await owner.page.goto(server.docs);
    await owner.swagger.authorise(server.token);
    const edit = () => ({ email: COLLEAGUE, role: 'member', message: 'Welcome to the team.' });
    const { invitation } = await ok(owner, 'tenant', 'createInvitation', { edit });
    assert.equal(invitation.state, 'pending');
  },
  'the colleague accepts in another browser': async () => {
    colleague = await openUser(server, 'company');
    const { page } = colleague;
    await page.goto(await mailbox.linkIn(/invites you to/));
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
    await page.goto(await mailbox.linkIn(/Set a new password/));
    await page.getByLabel('New password').fill(SECOND_PASSWORD);
    await look(page, 'company new password');
    await page.getByRole('button', { name: 'Set a new password' }).click();
    await page.getByText('All sessions and application passwords have ended.').waitFor();
    await page.goto(server.docs);
    assert.equal((await call(colleague, 'settings', 'readProfile')).status, '401');
    await colleague.swagger.unauthorise();
    await signIn(colleague, COLLEAGUE, SECOND_PASSWORD);
    await ok(colleague, 'settings', 'readProfile');
  },
  'the owner requires a second factor': async () => {
    const edit = () => ({ second_factor: { required: true, grace_days: 0 } });
    await ok(owner, 'tenant', 'updateTenantPolicy', { edit });
    const shut = await call(colleague, 'settings', 'readProfile');
    assert.deepEqual([shut.status, shut.body.error], ['403', 'second_factor_enrolment_required']);
    // The rule applies to the owner too.
    assert.equal((await call(owner, 'tenant', 'readTenantPolicy')).status, '403');
  },
  'she enables one on the sign-in page': async () => {
    await forget(colleague);
    recoveryCodes = await enrolAtSignIn(colleague, COLLEAGUE, SECOND_PASSWORD);
    await ok(colleague, 'settings', 'readProfile');
  },
  'so does the owner': async () => {
    await forget(owner);
    await enrolAtSignIn(owner, server.emails[0], server.password);
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
    await forget(colleague);
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
    await forget(colleague);
    await colleague.swagger.filter('settings');
    await colleague.swagger.signIn((popup) => withRecoveryCode(popup));
    await ok(colleague, 'settings', 'readProfile');
  },
  'the owner registers an application of the company': async () => {
    application = await Application.start();
    const { client, client_secret } = await ok(owner, 'tenant', 'createTenantClient', {
      edit: () => ({ name: 'Time sheets', kind: 'confidential', redirect_uris: [application.redirectUri] }),
    });
    clientId = client.id;
    await application.connect(new URL(server.docs).origin, clientId, client_secret);
  },
  'the colleague allows it on the consent page, which names its scopes': async () => {
    await colleague.page.goto(application.origin);
    const text = await consentText();
    await look(colleague.page, 'company consent');
    for (const named of [
      'identify you',
      'see your name: Carla Colleague',
      `see your email address: ${COLLEAGUE}`,
      'stay signed in while you are away',
      'read and change everything that you can access in the workspace',
      new URL(application.origin).host,
    ])
      assert.ok(text.includes(named), `the consent does not name "${named}": ${text}`);
    await allow();
    await look(colleague.page, 'company application');
  },
  'the application reads the API as her': async () => {
    assert.equal(application.claims.email, COLLEAGUE);
    assert.equal((await application.read('/settings/profile')).body.profile.email, COLLEAGUE);
    await application.refresh();
    assert.equal((await application.read('/notes')).status, 200);
  },
  'she sees the consent and withdraws it, which ends the access of the application': async () => {
    const { applications } = await ok(colleague, 'settings', 'listConnectedApps');
    assert.deepEqual(
      applications.map(({ id, name, scopes }) => [id, name, scopes.toSorted()]),
      [[clientId, 'Time sheets', ['email', 'offline_access', 'openid', 'profile', 'workspace']]],
    );
    const { sessions_ended } = await ok(colleague, 'settings', 'removeConnectedApp', { client: clientId });
    assert.equal(sessions_ended, 1);
    await assertDisconnected();
    assert.deepEqual((await ok(colleague, 'settings', 'listConnectedApps')).applications, []);
    await ok(colleague, 'settings', 'readProfile');
    // The consent is requested again, after a new sign-in of the browser in which it was given.
    await colleague.page.goto(application.origin);
    await withRecoveryCode(colleague.page);
    await consentText();
    await allow();
    assert.equal((await application.read('/notes')).status, 200);
  },
  'the owner removes the colleague, whose sessions end': async () => {
    const { members } = await ok(owner, 'tenant', 'listTenantMembers');
    const { user_id } = members.find(({ email }) => email === COLLEAGUE);
    await ok(owner, 'tenant', 'deactivateTenantMember', { user_id });
    await colleague.page.goto(server.docs);
    assert.equal((await call(colleague, 'settings', 'readProfile')).status, '401');
    await assertDisconnected();
    await colleague.page.goto(application.origin);
    // Her account continues, for other workspaces.
    await withRecoveryCode(colleague.page);
    await colleague.page.getByRole('heading', { name: 'This application is not for you' }).waitFor();
    await look(colleague.page, 'company removed');
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
    application?.stop();
    mailbox.stop();
  },
};
