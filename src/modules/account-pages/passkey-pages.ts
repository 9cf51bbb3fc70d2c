import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { html, type Html } from '../../platform/html/html-tag.js';
import { ApiError } from '../../platform/http/errors.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import type { BodyReply } from '../../platform/http/replies/body-reply.js';
import {
  isPasskeyName,
  MAX_PASSKEY_NAME,
  PasskeyLinks,
  type PasskeyOwner,
  Passkeys,
  SecurityErrors,
} from '../account-security/index.js';
import { parsed, PASSKEY_SCRIPT_PATH, passkeyButton } from '../sign-in/index.js';
import { TenantErrors } from '../tenants/index.js';
import { inputField, type PageRequest, postForm, showInvalidLink, showPage } from './page-kit.js';

type Owner = PasskeyOwner & { email: string };
type Passkey = Awaited<ReturnType<Passkeys['list']>>[number];

/** The page of the passkeys of an account. */
@Injectable()
export class PasskeyPages {
  private readonly script: string;

  constructor(
    private readonly links: PasskeyLinks,
    private readonly passkeys: Passkeys,
    config: Config,
  ) {
    this.script = `${config.publicUrl}${PASSKEY_SCRIPT_PATH}`;
  }

  async show(page: PageRequest, token: string): Promise<BodyReply> {
    const owner = await this.links.find(token);
    return owner ? this.list(page, owner) : showInvalidLink(page, 'passkey_link_invalid_lead');
  }

  /** Adds, renames or removes a passkey. */
  async change(page: PageRequest, token: string): Promise<BodyReply> {
    const found = await this.links.find(token);
    if (!found) return showInvalidLink(page, 'passkey_link_invalid_lead');
    const owner = { ...found, ip: page.ip, requestId: page.requestId ?? '' };
    try {
      const codes = await this.apply(page, owner);
      return codes ? recoveryCodesPage(page, codes) : await this.list(page, owner);
    } catch (error) {
      return this.list(page, owner, problemOf(page, error));
    }
  }

  /** @returns recovery codes when a passkey is the first factor of the account */
  private async apply(page: PageRequest, owner: Owner): Promise<string[] | null> {
    const [step, id, name] = [page.field('step'), page.field('passkey_id'), page.field('name').trim()];
    if (step !== 'add' && !isUuid(id)) throw SecurityErrors.notFound.with();
    switch (step) {
      case 'add': {
        const credential = parsed(page.field('credential', MAX_CREDENTIAL));
        const label = isPasskeyName(name) ? name : page.t('passkey');
        return (await this.passkeys.register(owner, label, credential)).recoveryCodes;
      }
      case 'rename':
        if (!isPasskeyName(name)) throw new InvalidName();
        await this.passkeys.rename(owner, id, name);
        return null;
      case 'remove':
        await this.passkeys.remove(owner, id);
        return null;
      default:
        return null;
    }
  }

  private async list(page: PageRequest, owner: Owner, alert?: string): Promise<BodyReply> {
    const { t } = page;
    const passkeys = await this.passkeys.list(owner.userId);
    const options = await this.passkeys.begin(owner);
    const add = passkeyButton({
      ceremony: 'create',
      options,
      label: t('passkey_add'),
      error: t('passkey_cancelled'),
      step: 'add',
    });
    const name = { type: 'text', autocomplete: 'off', maxLength: MAX_PASSKEY_NAME, optional: true } as const;
    return showPage(page, {
      heading: t('passkeys'),
      lead: t(passkeys.length === 0 ? 'passkeys_none_lead' : 'passkeys_lead', { email: owner.email }),
      alert,
      content: html`${passkeys.map((passkey) => passkeyForm(page, passkey))}
      ${postForm(html`${inputField('name', t('passkey_name'), { ...name, hint: t('passkey_name_hint') })}${add}`)}`,
      script: this.script,
    });
  }
}

/** Characters of a credential, which contains the certificates of some authenticators. */
const MAX_CREDENTIAL = 12_000;

class InvalidName extends Error {}

function passkeyForm({ t, language }: PageRequest, { id, name, created_at, last_used_at }: Passkey): Html {
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
  const hint = [
    t('passkey_created', { date: date.format(created_at) }),
    last_used_at === null ? t('passkey_unused') : t('passkey_used', { date: date.format(last_used_at) }),
  ].join(' ');
  return postForm(
    html`<fieldset>
      <legend>${name}<span class="hint">${hint}</span></legend>
      <input type="hidden" name="passkey_id" value="${id}" />
      <div class="field">
        <input
          type="text"
          name="name"
          value="${name}"
          maxlength="${MAX_PASSKEY_NAME}"
          autocomplete="off"
          aria-label="${t('passkey_name')}"
        />
      </div>
      <button class="second" name="step" value="rename">${t('passkey_rename')}</button>
      <button class="plain" name="step" value="remove" aria-label="${t('passkey_remove_named', { name })}">
        ${t('passkey_remove')}
      </button>
    </fieldset>`,
  );
}

function recoveryCodesPage(page: PageRequest, codes: string[]): BodyReply {
  const { t } = page;
  return showPage(page, {
    heading: t('passkey_added'),
    lead: t('recovery_codes_lead'),
    content: html`<ul>
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ul>
      <p class="below"><a href="">${t('passkeys')}</a></p>`,
  });
}

/** The text for a rejected change; other errors are thrown again. */
function problemOf({ t }: PageRequest, error: unknown): string {
  if (error instanceof InvalidName) return t('passkey_name_missing');
  if (!(error instanceof ApiError)) throw error;
  switch (error.kind) {
    case SecurityErrors.invalidPasskey:
      return t('passkey_invalid');
    case SecurityErrors.passkeyRegistered:
      return t('passkey_registered');
    case SecurityErrors.tooManyPasskeys:
      return t('passkey_too_many');
    case SecurityErrors.notFound:
      return t('passkey_unknown');
    case TenantErrors.requiredByPolicy:
      return t('passkey_required');
    default:
      throw error;
  }
}
