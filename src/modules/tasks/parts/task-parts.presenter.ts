import { JsonReply } from '../../../platform/http/json-reply.js';
import type { TaskAttachmentListEnvelope, TaskPanelResponse } from './task-parts.dto.js';

/** All attachments of a task. @param attachments a JSON array */
export const attachmentsReply = (attachments: string): JsonReply<TaskAttachmentListEnvelope> =>
  JsonReply.ofTexts<TaskAttachmentListEnvelope, 'attachments'>({ attachments }, {}, { next: null });

type PanelTexts = 'task' | 'subtasks' | 'comments' | 'attachments' | 'activity';

export const panelReply = (
  texts: Record<PanelTexts, string>,
  rest: Omit<TaskPanelResponse, PanelTexts>,
): JsonReply<TaskPanelResponse> => JsonReply.ofTexts<TaskPanelResponse, PanelTexts>(texts, {}, rest);
