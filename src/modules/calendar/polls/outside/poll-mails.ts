import { Injectable, type OnModuleInit } from '@nestjs/common';
import { API_PREFIX, Config } from '../../../../config/config.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { isUuid } from '../../../../platform/http/id.pipe.js';
import { languageOf } from '../../../../platform/languages/languages.js';
import { Keyring } from '../../../../platform/secrets/keyring.js';
import { catalogueMail } from '../../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../../platform/system-mail/system-mail.js';
import type { OutsideVoter, PollRecord } from '../poll-record.js';
import { PollsRepository } from '../polls.repository.js';
import { optionText, POLL_TEXTS, type PollText } from './poll-texts.js';

const USE = 'poll-vote';
const SIGNATURE_BYTES = 16;

/** Signed links to the votes of one participant. They are valid as long as the poll exists. */
@Injectable()
export class VoteLinks {
  constructor(
    private readonly keyring: Keyring,
    private readonly config: Config,
  ) {}

  url(voter: OutsideVoter): string {
    return `${this.config.publicUrl}/${API_PREFIX}/calendar/polls/outside/${this.token(voter)}`;
  }

  /** @returns null for an invalid token */
  read(token: string): OutsideVoter | null {
    const [payload = '', signature = ''] = token.split('.');
    if (!this.keyring.verify(USE, payload, Buffer.from(signature, 'base64url'))) return null;
    const [tenantId, pollId, participantId] = Buffer.from(payload, 'base64url').toString().split(' ');
    if (!isUuid(tenantId) || !isUuid(pollId) || !isUuid(participantId)) return null;
    return { tenantId, pollId, participantId };
  }

  private token({ tenantId, pollId, participantId }: OutsideVoter): string {
    const payload = Buffer.from(`${tenantId} ${pollId} ${participantId}`).toString('base64url');
    return `${payload}.${this.keyring.sign(USE, payload, SIGNATURE_BYTES).toString('base64url')}`;
  }
}

const invitationKey = (participantId: string): string => `poll ${participantId}`;

interface PollMail {
  title: string;
  inviter: string;
  inviterEmail: string;
  location: string;
  /** Times of the options in the language of the mail. */
  times: string[];
  /** Null means that the options are days. */
  zone: string | null;
  url: string;
}

/** Options that the mail lists. */
const MAX_LISTED = 20;

const POLL_MAIL = catalogueMail<PollText, PollMail>({
  name: 'calendar.poll',
  texts: POLL_TEXTS,
  content(text, { title, inviter, inviterEmail, location, times, zone, url }) {
    return {
      subject: text('mail_subject', { inviter, title }),
      title,
      paragraphs: [
        text('mail_text', { inviter, title }),
        ...(zone === null ? [] : [text('times_in', { zone })]),
      ],
      facts: location === '' ? [] : [{ label: text('location'), value: location }],
      items: times.map((time) => ({ title: time })),
      action: { label: text('mail_action'), url },
      closing: [text('mail_closing')],
      senderName: inviter,
      replyTo: { name: inviter, address: inviterEmail },
    };
  },
  examples: {
    poll: {
      title: 'Spring offsite',
      inviter: 'Ann Example',
      inviterEmail: 'ann@example.com',
      location: 'Room 3',
      times: ['Monday, March 2, 2026, 9:00 – 10:00 AM', 'Tuesday, March 3, 2026, 2:00 – 3:00 PM'],
      zone: 'Europe/Berlin',
      url: 'https://work.example/apis/v1/calendar/polls/outside/token',
    },
  },
});

const CANCELLED_MAIL = catalogueMail<PollText, Pick<PollMail, 'title' | 'inviter' | 'inviterEmail'>>({
  name: 'calendar.poll-cancelled',
  texts: POLL_TEXTS,
  content: (text, { title, inviter, inviterEmail }) => ({
    subject: text('cancelled_subject', { inviter, title }),
    title,
    paragraphs: [text('cancelled_text', { inviter, title })],
    senderName: inviter,
    replyTo: { name: inviter, address: inviterEmail },
  }),
  examples: {
    cancelled: { title: 'Spring offsite', inviter: 'Ann Example', inviterEmail: 'ann@example.com' },
  },
});

/** Mails to participants outside of the workspace: they vote by a link. */
@Injectable()
export class PollMails implements OnModuleInit {
  constructor(
    private readonly mails: SystemMail,
    private readonly links: VoteLinks,
    private readonly polls: PollsRepository,
  ) {}

  onModuleInit(): void {
    this.mails.register(POLL_MAIL);
    this.mails.register(CANCELLED_MAIL);
  }

  /** Queues a mail to each participant outside of the workspace. */
  async invite(tx: Tx, tenantId: string, poll: PollRecord): Promise<void> {
    const outside = poll.participants.filter(({ user_id: userId }) => userId === null);
    const owner = outside.length > 0 ? await this.polls.owner(tx, tenantId, poll.owner_id) : null;
    if (!owner) return;
    const language = languageOf(owner.locale) ?? 'en';
    const times = poll.options
      .slice(0, MAX_LISTED)
      .map((option) => optionText(option, poll.time_zone, language));
    const { title, location, kind, time_zone } = poll;
    const zone = kind === 'date' ? null : time_zone;
    const common = { title, location, zone, times, inviter: owner.name, inviterEmail: owner.email };
    for (const { id: participantId, email: to } of outside) {
      const url = this.links.url({ tenantId, pollId: poll.id, participantId });
      const mail = { tenantId, template: POLL_MAIL, to, language, values: { ...common, url } };
      await this.mails.queue(tx, { ...mail, key: invitationKey(participantId) });
    }
  }

  /** Withdraws invitations that are not sent yet, and queues a mail to each participant outside of the workspace who has voted. */
  async cancel(tx: Tx, tenantId: string, poll: PollRecord): Promise<void> {
    const outside = poll.participants.filter(({ user_id: userId }) => userId === null);
    await this.mails.withdraw(
      tx,
      tenantId,
      outside.map(({ id }) => invitationKey(id)),
    );
    const voters = outside.filter(({ responded_at: at }) => at !== null);
    const owner = voters.length > 0 ? await this.polls.owner(tx, tenantId, poll.owner_id) : null;
    if (!owner) return;
    const language = languageOf(owner.locale) ?? 'en';
    const values = { title: poll.title, inviter: owner.name, inviterEmail: owner.email };
    for (const { id, email: to } of voters) {
      const mail = { tenantId, template: CANCELLED_MAIL, to, language, values };
      await this.mails.queue(tx, { ...mail, key: `poll ${id} cancelled` });
    }
  }
}
