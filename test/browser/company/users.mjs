// A user with a browser and the documentation page: calls operations there and signs in.
import assert from 'node:assert/strict';
import { openBrowser } from '../support/browser.mjs';
import { look } from '../support/pictures.mjs';
import { SwaggerPage } from '../support/swagger-page.mjs';

/** A browser with the documentation page. @param suite names the pictures */
export async function openUser({ docs }, suite) {
  const browser = await openBrowser(new URL(docs).origin);
  return Object.assign(browser, { swagger: new SwaggerPage(browser.page), docs, suite });
}

/** Executes an operation on a new page. @returns status and JSON of the response */
export async function call(user, tag, operationId, { edit, ...parameters } = {}) {
  await user.page.goto(user.docs);
  await user.swagger.filter(tag);
  const { status } = await user.swagger.execute(tag, operationId, edit, { parameters });
  await look(user.swagger.operation(tag, operationId), `${user.suite} ${operationId} ${status}`);
  return { status, body: await user.swagger.shown(tag, operationId) };
}

/** Like `call`, for an operation that must succeed. @returns JSON of the response */
export async function ok(user, tag, operationId, parameters) {
  const { status, body } = await call(user, tag, operationId, parameters);
  assert.ok(status.startsWith('2'), `${operationId}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Signs in with a password. */
export async function signIn(user, email, password) {
  await user.page.goto(user.docs);
  await user.swagger.filter('settings');
  await user.swagger.signIn(async (popup) => {
    await popup.getByLabel('Email address').fill(email);
    await popup.getByLabel('Password').fill(password);
    await popup.keyboard.press('Enter');
  });
}

/** Signs out in this browser, and in the page of the documentation. */
export async function forget(user) {
  await user.page.context().clearCookies();
  await user.page.goto(user.docs);
  await user.swagger.unauthorise();
}
