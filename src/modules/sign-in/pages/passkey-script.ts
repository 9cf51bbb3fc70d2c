import { html, type Html } from '../../../platform/html/html-tag.js';

/** Path of the script for passkeys. */
export const PASSKEY_SCRIPT_PATH = '/apis/v1/oidc/passkey.js';

/**
 * Runs the WebAuthn ceremony of a button, stores the response in the field `credential` of its form and submits it. Without the
 * script the form is submitted with an empty field.
 */
export const PASSKEY_SCRIPT = `'use strict';
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const decoded = (list = []) => list.map((each) => ({ ...each, id: toBytes(each.id) }));

async function create(options) {
  const { user, challenge, excludeCredentials } = options;
  const publicKey = {
    ...options,
    challenge: toBytes(challenge),
    user: { ...user, id: toBytes(user.id) },
    excludeCredentials: decoded(excludeCredentials),
  };
  const credential = await navigator.credentials.create({ publicKey });
  const { clientDataJSON, attestationObject } = credential.response;
  return [credential, {
    clientDataJSON: toText(clientDataJSON),
    attestationObject: toText(attestationObject),
    transports: credential.response.getTransports?.() ?? [],
  }];
}

async function get(options) {
  const { challenge, allowCredentials } = options;
  const publicKey = { ...options, challenge: toBytes(challenge), allowCredentials: decoded(allowCredentials) };
  const credential = await navigator.credentials.get({ publicKey });
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  return [credential, {
    clientDataJSON: toText(clientDataJSON),
    authenticatorData: toText(authenticatorData),
    signature: toText(signature),
    ...(userHandle && { userHandle: toText(userHandle) }),
  }];
}

async function run({ passkey, options }) {
  const [{ rawId, type }, response] = await (passkey === 'create' ? create : get)(JSON.parse(options));
  const id = toText(rawId);
  return JSON.stringify({ id, rawId: id, type, clientExtensionResults: {}, response });
}

function showAlert(text) {
  const alert = document.getElementById('alert') ?? document.createElement('p');
  Object.assign(alert, { id: 'alert', className: 'alert', role: 'alert', textContent: text });
  document.querySelector('h1').after(alert);
}

for (const button of document.querySelectorAll('button[data-passkey]')) {
  const field = button.form.elements.namedItem('credential');
  const empty = () => { field.value = ''; };
  addEventListener('pageshow', empty);
  button.addEventListener('click', async (event) => {
    if (field.value !== '') return;
    event.preventDefault();
    if (!button.formNoValidate && !button.form.reportValidity()) return;
    button.disabled = true;
    try {
      field.value = await run(button.dataset);
    } catch {
      showAlert(button.dataset.error);
    }
    button.disabled = false;
    if (field.value !== '') button.click();
  });
}
`;

interface PasskeyButton {
  ceremony: 'create' | 'get';
  /** Options of the ceremony in the JSON form of WebAuthn Level 3. */
  options: object;
  label: string;
  /** Text for a ceremony that the user or the browser cancels. */
  error: string;
  /** Value of the field `step`. */
  step: string;
  isSecond?: boolean;
  /** Whether the other fields of the form may be empty. Default: for `get`. */
  skipsFields?: boolean;
}

/** A button that runs a ceremony and submits its form with the field `credential`. The page needs the script. */
export function passkeyButton({
  ceremony,
  options,
  label,
  error,
  step,
  isSecond = false,
  skipsFields = ceremony === 'get',
}: PasskeyButton): Html {
  return html`<input type="hidden" name="credential" value="" /><button
      ${isSecond && html` class="second"`}
      name="step"
      value="${step}"
      ${skipsFields && html` formnovalidate`}
      data-passkey="${ceremony}"
      data-options="${JSON.stringify(options)}"
      data-error="${error}"
    >
      ${label}
    </button>`;
}
