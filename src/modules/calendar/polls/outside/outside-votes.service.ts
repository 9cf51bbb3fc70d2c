import { Injectable } from '@nestjs/common';
import { Db } from '../../../../platform/database/db.js';
import type { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { acceptedLanguage } from '../../../../platform/languages/languages.js';
import { storable } from '../../model/ics/storable.js';
import { type Answer, ANSWERS, type PollRecord, statusOf } from '../poll-record.js';
import { PollsRepository } from '../polls.repository.js';
import { VoteLinks } from './vote-links.js';
import { fieldOf, unknownPollPage, votePage } from './vote-page.js';

const MAX_COMMENT = 2_000;

/** Votes of participants outside of the workspace. The token of their link is the credential. */
@Injectable()
export class OutsideVotesService {
  constructor(
    private readonly links: VoteLinks,
    private readonly polls: PollsRepository,
    private readonly db: Db,
  ) {}

  async page(token: string, languages: string | undefined): Promise<BodyReply> {
    const language = acceptedLanguage(languages) ?? 'en';
    const voter = this.links.read(token);
    const poll = voter && (await this.polls.findForParticipant(this.db, voter));
    if (!voter || !poll) return unknownPollPage(language);
    return votePage({ poll, participantId: voter.participantId, language, isSaved: false });
  }

  /** Replaces the votes of the participant. A closed poll shows its result. @param form of the page */
  async vote(token: string, form: Buffer, languages: string | undefined): Promise<BodyReply> {
    const language = acceptedLanguage(languages) ?? 'en';
    const voter = this.links.read(token);
    if (!voter) return unknownPollPage(language);
    const { participantId } = voter;
    return this.db.tx(async (tx) => {
      await this.polls.lock(tx, voter.tenantId, voter.pollId);
      const poll = await this.polls.findForParticipant(tx, voter);
      if (!poll) return unknownPollPage(language);
      if (statusOf(poll) !== 'open') return votePage({ poll, participantId, language, isSaved: false });
      const { votes, comment } = read(form, poll);
      await this.polls.vote(tx, voter.tenantId, voter.pollId, participantId, votes, comment);
      const after = (await this.polls.findForParticipant(tx, voter)) as PollRecord;
      return votePage({ poll: after, participantId, language, isSaved: true });
    });
  }
}

/** The votes of a form. Options without a valid answer have no vote. */
function read(form: Buffer, poll: PollRecord) {
  const fields = new URLSearchParams(form.toString());
  const votes = poll.options.flatMap((option) => {
    const answer = fields.get(fieldOf(option));
    const isAllowed = answer !== 'if_needed' || poll.allow_if_needed;
    return isAnswer(answer) && isAllowed ? [{ option_id: option.id, answer }] : [];
  });
  return { votes, comment: storable(fields.get('comment') ?? '', MAX_COMMENT) };
}

const isAnswer = (text: string | null): text is Answer =>
  (ANSWERS as readonly (string | null)[]).includes(text);
