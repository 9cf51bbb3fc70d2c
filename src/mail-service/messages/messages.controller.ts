import { Controller, Delete, Get, Post, Put, Res } from '@nestjs/common';
import type { Response } from 'express';
import Joi from 'joi';
import type { Body } from '../http/body.js';
import { Call, Content } from '../http/call.js';
import { fields, ofMailbox } from '../http/fields.js';
import { sendStream } from '../http/replies.js';
import { cursorField, type ListRequest, MessageListService } from './message-list.service.js';
import { MessagesService, type UpdateRequest } from './messages.service.js';
import { SubmitService } from './submit.service.js';
import { metaData, upload } from './upload.fields.js';
import { type UploadRequest, UploadService } from './upload.service.js';

const cursor = (label: string): Joi.StringSchema =>
  Joi.string().empty('').max(1024).custom(cursorField, 'cursor').label(label).messages({
    '*': '{{#label}} contains an invalid value',
  });

const listing = ofMailbox({
  unseen: fields.flag().default(false),
  metaData: fields.flag().default(false),
  threadCounters: fields.flag().default(false),
  limit: Joi.number().empty('').default(20).integer().min(1).max(250),
  order: Joi.any(),
  next: cursor('Next page cursor'),
  previous: cursor('Previous page cursor'),
  includeHeaders: Joi.string().empty('').max(1024),
}).unknown();
const uploading = ofMailbox(upload);
const changes: Joi.SchemaMap = {
  message: fields.uids(),
  moveTo: fields.id(),
  seen: fields.flag(),
  deleted: fields.flag(),
  flagged: fields.flag(),
  draft: fields.flag(),
  expires: Joi.alternatives(fields.time(), Joi.boolean().valid(false)),
  metaData,
};
const update = ofMailbox(changes);
/** `delete` is not in WildDuck, which has no bulk deletion. */
const bulkUpdate = ofMailbox({ ...changes, delete: Joi.boolean().valid(true) }).without('delete', [
  'moveTo',
  'seen',
  'deleted',
  'flagged',
  'draft',
  'expires',
  'metaData',
]);
const reading = ofMailbox({
  message: fields.uid(),
  replaceCidLinks: fields.flag(),
  markAsSeen: fields.flag().default(false),
});
const one = ofMailbox({ message: fields.uid() });
const attachment = Joi.object({
  user: fields.id().required(),
  mailbox: fields.id().required(),
  message: fields.uid(),
  attachment: Joi.string()
    .regex(/^ATT\d+$/i)
    .uppercase()
    .required(),
  sendAsString: fields.flag(),
});
const submission = ofMailbox({
  message: fields.uid(),
  deleteFiles: fields.flag(),
  sendTime: fields.time().max('9999-12-31T23:59:59.999Z'),
});

interface One {
  user: string;
  mailbox: string;
  message: number;
}

@Controller('users/:user/mailboxes/:mailbox/messages')
export class MessagesController {
  constructor(
    private readonly lists: MessageListService,
    private readonly messages: MessagesService,
    private readonly uploads: UploadService,
    private readonly submits: SubmitService,
  ) {}

  @Get()
  list(@Call(listing) request: ListRequest) {
    return this.lists.page(request);
  }

  @Post()
  add(@Call(uploading) request: UploadRequest, @Content() content: Body) {
    return this.uploads.add(request, content);
  }

  @Put()
  updateMany(@Call(bulkUpdate) request: UpdateRequest) {
    return this.messages.update(request);
  }

  @Get(':message')
  read(@Call(reading) { user, mailbox, message, markAsSeen }: One & { markAsSeen: boolean }) {
    return this.messages.read(user, mailbox, message, markAsSeen);
  }

  @Put(':message')
  update(@Call(update) request: UpdateRequest) {
    return this.messages.update(request);
  }

  @Delete(':message')
  remove(@Call(one) { user, mailbox, message }: One) {
    return this.messages.remove(user, mailbox, message);
  }

  @Get(':message/message.eml')
  async source(@Call(one) { user, mailbox, message }: One, @Res() response: Response) {
    await sendStream(response, await this.messages.source(user, mailbox, message), 'message/rfc822');
  }

  @Get(':message/attachments/:attachment')
  async attachment(
    @Call(attachment) { user, mailbox, message, attachment: id }: One & { attachment: string },
    @Res() response: Response,
  ) {
    const { info, stream } = await this.messages.attachment(user, mailbox, message, id);
    await sendStream(response, stream, info.contentType, info.decodedSize);
  }

  @Post(':message/submit')
  submit(@Call(submission) { user, mailbox, message, sendTime }: One & { sendTime?: Date }) {
    return this.submits.submit(user, mailbox, message, sendTime);
  }
}
