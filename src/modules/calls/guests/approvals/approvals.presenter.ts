import { JsonReply } from '../../../../platform/http/json-reply.js';
import type { ApprovalEnvelope } from './approvals.response.js';

export const approvalReply = (approval: string): JsonReply<ApprovalEnvelope> =>
  JsonReply.ofTexts<ApprovalEnvelope>({ approval });
