import { Controller, Post } from '@nestjs/common';
import Joi from 'joi';
import { ServiceCall } from '../http/call.js';
import { fields, ofService } from '../http/fields.js';
import { type SystemMessage, SystemMessagesService } from './system-messages.service.js';

const MAX_SUBJECT = 1_000;

/** The host of the sender may be `localhost`. */
const SENDER = /^[^\s<>@]+@[^\s<>@]+$/;

const submission = ofService({
  id: Joi.string().uuid().required(),
  from: Joi.string().max(320).regex(SENDER).required(),
  to: fields.email().required(),
  subject: Joi.string().max(MAX_SUBJECT).allow('').required(),
  raw: Joi.string().base64().required(),
});

/** Messages without an account, for the service token. WildDuck has no such route. */
@Controller('system/messages')
export class SystemMessagesController {
  constructor(private readonly messages: SystemMessagesService) {}

  @Post()
  submit(@ServiceCall(submission) message: SystemMessage): Promise<Record<string, unknown>> {
    return this.messages.submit(message);
  }
}
