// A company with an OpenID issuer of its own: the owner verifies the domain and connects the issuer, and a colleague signs in by it.
import assert from 'node:assert/strict';
import { NameServer } from '../../support/network/dns.ts';
import { SignInIssuer } from '../../support/sign-in/sign-in-issuer.ts';
import { look, pictureOfFailure } from '../support/pictures.mjs';
import { startServer } from '../support/server.mjs';
import { until } from '../support/until.mjs';
import { call, ok, openUser } from './users.mjs';

const DOMAIN = 'organisation.example';
const COLLEAGUE = `nina@${DOMAIN}`;

let names;
let organisation;
let server;
let owner;
let colleague;
let issuerId;

/** Signs in up to the page that offers the issuer. */
async function askForIssuer(popup, email) {
  await popup.getByLabel('Email address').fill(email);
  await popup.getByRole('button', { name: 'Sign in with your organisation' }).click();
}

const steps = {
  'issuer: the owner verifies the domain of the company': async () => {
    names = await NameServer.start();
    organisation = await SignInIssuer.start();
    server = await startServer({ DNS_SERVERS: names.address });
    owner = await openUser(server, 'issuer');
    await owner.page.goto(server.docs);
    await owner.swagger.authorise(server.token);
    const { domain } = await ok(owner, 'tenant', 'addTenantDomain', { edit: () => ({ domain: DOMAIN }) });
    assert.equal(domain.verified, false);
    const early = await call(owner, 'tenant', 'verifyTenantDomain', { domain: DOMAIN });
    assert.equal(early.status, '409');
    names.records.set(domain.txt_record.name, [domain.txt_record.value]);
    const verified = await ok(owner, 'tenant', 'verifyTenantDomain', { domain: DOMAIN });
    assert.equal(verified.domain.verified, true);
  },
  'the owner connects its issuer': async () => {
    const { issuer } = await ok(owner, 'tenant', 'createIssuer', {
      edit: () => ({
        name: 'Organisation',
        issuer: organisation.url,
        client_id: 'workspace',
        client_secret: 'the secret of the client',
        domains: [DOMAIN],
        creates_members: true,
      }),
    });
    issuerId = issuer.id;
  },
  'a new colleague signs in by it and is a member': async () => {
    organisation.claims = { sub: 'nina', email: COLLEAGUE, email_verified: true, name: 'Nina New' };
    colleague = await openUser(server, 'issuer');
    await colleague.page.goto(server.docs);
    await colleague.swagger.filter('settings');
    await colleague.swagger.signIn(async (popup) => {
      await popup.getByLabel('Email address').waitFor();
      await look(popup, 'issuer sign-in');
      await askForIssuer(popup, 'nina@unknown.example');
      await popup.getByText('No organisation signs in this address here.').waitFor();
      await look(popup, 'issuer unknown');
      await askForIssuer(popup, COLLEAGUE);
      await popup.getByRole('link', { name: 'Continue to Organisation' }).waitFor();
      await look(popup, 'issuer offered');
      await popup.getByRole('link', { name: 'Continue to Organisation' }).click();
    });
    const { profile } = await ok(colleague, 'settings', 'readProfile');
    assert.deepEqual([profile.email, profile.display_name ?? profile.name], [COLLEAGUE, 'Nina New']);
  },
  'the owner removes the issuer, which ends her session': async () => {
    await ok(owner, 'tenant', 'deleteIssuer', { id: issuerId, edit: () => ({ base_revision: 1 }) });
    await until(async () => (await call(colleague, 'settings', 'readProfile')).status === '401');
  },
};

export const issuer = {
  steps,
  failed: async () => {
    await pictureOfFailure(owner);
    await pictureOfFailure(colleague);
  },
  end: async () => {
    await owner?.close();
    await colleague?.close();
    await server?.stop();
    await organisation?.stop();
    await names?.stop();
  },
};
