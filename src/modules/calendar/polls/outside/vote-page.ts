import { type Html, html } from '../../../../platform/html/html-tag.js';
import { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { type Language, type Translate, translator } from '../../../../platform/languages/languages.js';
import { ANSWERS, type OptionRow, type PollRecord, statusOf } from '../poll-record.js';
import { optionText, POLL_TEXTS, type PollText } from './poll-texts.js';

/** The page may send its own form and nothing else. */
const POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

interface VotePage {
  poll: PollRecord;
  participantId: string;
  language: Language;
  /** The request has stored votes. */
  isSaved: boolean;
}

/** Name of the form field with the answer to an option. */
export const fieldOf = ({ id }: Pick<OptionRow, 'id'>): string => `option_${id}`;

/** The page of a poll for one participant outside of the workspace. */
export function votePage({ poll, participantId, language, isSaved }: VotePage): BodyReply {
  const t = translator(POLL_TEXTS, language);
  const organizer = poll.participants.find(({ user_id: userId }) => userId === poll.owner_id);
  const facts: [PollText, string][] = [
    ['organizer', organizer ? `${organizer.name} <${organizer.email}>` : ''],
    ['location', poll.location],
    ['deadline', poll.deadline === null ? '' : momentText(poll.deadline, poll.time_zone, language)],
  ];
  const shownFacts = facts.filter(([, value]) => value !== '');
  return pageOf(
    language,
    200,
    poll.title,
    html`<p>${poll.description}</p>
      <dl>
        ${shownFacts.map(
          ([name, value]) =>
            html`<dt>${t(name)}</dt>
              <dd>${value}</dd>`,
        )}
      </dl>
      ${isSaved && html`<p role="status">${t('saved')}</p>`} ${contentOf(poll, participantId, language, t)}`,
  );
}

/** The page for an invalid link. */
export function unknownPollPage(language: Language): BodyReply {
  const t = translator(POLL_TEXTS, language);
  return pageOf(language, 404, t('unknown_title'), html`<p>${t('unknown')}</p>`);
}

function contentOf(
  poll: PollRecord,
  participantId: string,
  language: Language,
  t: Translate<PollText>,
): Html {
  const status = statusOf(poll);
  if (status === 'open') return formOf(poll, participantId, language, t);
  const chosen = poll.options.find(({ id }) => id === poll.option_id);
  const time = chosen ? optionText(chosen, poll.time_zone, language) : '';
  return html`<p>${t(status, { time: `${time} (${poll.time_zone})` })}</p>`;
}

function formOf(poll: PollRecord, participantId: string, language: Language, t: Translate<PollText>): Html {
  const answers = ANSWERS.filter((answer) => answer !== 'if_needed' || poll.allow_if_needed);
  const own = new Map(
    poll.votes
      .filter(({ participant_id: id }) => id === participantId)
      .map(({ option_id: id, answer }) => [id, answer]),
  );
  const comment = poll.participants.find(({ id }) => id === participantId)?.comment ?? '';
  const radio = (option: OptionRow, answer: (typeof ANSWERS)[number]): Html =>
    html`<label
      ><input
        type="radio"
        name="${fieldOf(option)}"
        value="${answer}"
        ${own.get(option.id) === answer ? html`checked` : ''}
      />
      ${t(answer)}</label
    > `;
  return html`<form method="post">
    ${poll.kind === 'date' ? '' : html`<p>${t('times_in', { zone: poll.time_zone })}</p>`}
    ${poll.options.map(
      (option) =>
        html`<fieldset>
          <legend>${optionText(option, poll.time_zone, language)}</legend>
          ${answers.map((answer) => radio(option, answer))}
        </fieldset>`,
    )}
    <p>
      <label
        >${t('comment')}<br /><textarea name="comment" maxlength="2000" rows="3">${comment}</textarea>
      </label>
    </p>
    <button>${t('send')}</button>
  </form>`;
}

const momentText = (instant: string, timeZone: string, language: Language): string =>
  `${new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short', timeZone }).format(new Date(instant))} (${timeZone})`;

function pageOf(language: Language, status: number, title: string, content: Html): BodyReply {
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
  return new BodyReply(Buffer.from(page.text), {
    status,
    contentType: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' },
  });
}
