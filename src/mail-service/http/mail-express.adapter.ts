import type { Response } from 'express';
import { LeanExpressAdapter } from '../../platform/http/server/lean-express.adapter.js';
import { writeJson } from './reply.js';

/** The platform's adapter with WildDuck's responses: status 200 for every success. */
export class MailExpressAdapter extends LeanExpressAdapter {
  override reply(response: Response, body: unknown): unknown {
    return writeJson(response, 200, body);
  }
}
