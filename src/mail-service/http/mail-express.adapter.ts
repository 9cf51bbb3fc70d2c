import type { Response } from 'express';
import { LeanExpressAdapter } from '../../platform/http/lean-express.adapter.js';
import { writeJson } from './reply.js';

/** The platform's adapter, with answers as the mail interface gives them: 200 for everything that worked. */
export class MailExpressAdapter extends LeanExpressAdapter {
  override reply(response: Response, body: unknown): unknown {
    return writeJson(response, 200, body);
  }
}
