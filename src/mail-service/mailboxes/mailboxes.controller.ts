import { Controller, Delete, Get, Post, Put } from '@nestjs/common';
import Joi from 'joi';
import { Call } from '../http/call.js';
import { fields, ofMailbox, ofUser } from '../http/fields.js';
import type { MailboxChange } from './mailboxes.repository.js';
import { MailboxesService } from './mailboxes.service.js';

const listing = ofUser({
  specialUse: fields.flag().default(false),
  showHidden: fields.flag().default(false),
  counters: fields.flag().default(false),
  sizes: fields.flag().default(false),
});
const creation = ofUser({
  path: fields.path().required(),
  hidden: fields.flag(),
  retention: fields.retention(),
  encryptMessages: fields.flag(),
});
const resolution = ofUser({
  path: Joi.string()
    .normalize('NFC')
    .max(128 * 513),
});
const change = ofMailbox({
  path: fields.path(),
  retention: fields.retention(),
  subscribed: fields.flag(),
  encryptMessages: fields.flag(),
  hidden: fields.flag(),
});
const one = ofMailbox();

interface One {
  user: string;
  mailbox: string;
}

@Controller('users/:user/mailboxes')
export class MailboxesController {
  constructor(private readonly mailboxes: MailboxesService) {}

  @Get()
  list(@Call(listing) { user, ...options }: One & Parameters<MailboxesService['list']>[1]) {
    return this.mailboxes.list(user, options);
  }

  @Post()
  create(@Call(creation) { user, ...input }: { user: string; path: string } & MailboxChange) {
    return this.mailboxes.create(user, input);
  }

  @Get('resolve')
  resolve(@Call(resolution) { user, path }: { user: string; path?: string }) {
    return this.mailboxes.resolve(user, path);
  }

  @Get(':mailbox')
  read(@Call(one) { user, mailbox }: One) {
    return this.mailboxes.read(user, mailbox);
  }

  @Put(':mailbox')
  update(
    @Call(change) {
      user,
      mailbox,
      path,
      retention,
      subscribed,
      hidden,
      encryptMessages,
    }: One & MailboxChange,
  ) {
    return this.mailboxes.update(user, mailbox, { path, retention, subscribed, hidden, encryptMessages });
  }

  @Delete(':mailbox')
  remove(@Call(one) { user, mailbox }: One) {
    return this.mailboxes.remove(user, mailbox);
  }
}
