import { ChatAttachmentResponse } from '../message.response.js';

export class ChatAttachmentEnvelope {
  attachment!: ChatAttachmentResponse;
}
