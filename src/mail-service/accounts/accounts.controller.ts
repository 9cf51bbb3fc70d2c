import { Controller, Delete, Get, Post, Put } from '@nestjs/common';
import Joi from 'joi';
import { CallerOf, ServiceCall } from '../http/call.js';
import type { Caller } from '../http/caller.guard.js';
import { fields, ofService, ofUser } from '../http/fields.js';
import { mailErrors } from '../mail-error.js';
import { AccountsService, type Login, type NewAccount } from './accounts.service.js';

const username = Joi.string()
  .lowercase()
  .max(128)
  .regex(/^[^\s\p{Cc}/]+$/u, 'username')
  .required();
const password = Joi.string().min(1).max(256);

const creation = ofService({
  username,
  password: Joi.alternatives(Joi.valid(false), password).required(),
  address: fields.email().custom((value: string) => value.toLowerCase()),
  name: Joi.string().max(256).allow(''),
  // Accepted as in WildDuck, but without effect.
  allowUnsafe: fields.flag(),
  emptyAddress: fields.flag(),
});
const resolution = ofService({ username });
const change = ofUser({
  password,
  name: Joi.string().max(256).allow(''),
  existingPassword: Joi.string().max(256),
});
const addressing = ofUser({
  address: fields.email().required(),
  // An address beside the main one is not supported.
  main: fields.flag().valid(true).required(),
});
const removal = ofUser();
const login = ofService({
  username: Joi.string().min(1).max(256).required(),
  password: Joi.string().max(256).required(),
  scope: Joi.string().valid('master', 'imap', 'smtp', 'pop3').default('master'),
  token: fields.flag().default(false),
  protocol: Joi.string().max(255),
});

/** Account routes: for the service token only, except logout. */
@Controller()
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

  @Post('users')
  create(@ServiceCall(creation) input: NewAccount) {
    return this.accounts.create(input);
  }

  @Get('users/resolve/:username')
  resolve(@ServiceCall(resolution) { username }: { username: string }) {
    return this.accounts.resolve(username);
  }

  @Put('users/:user')
  change(@ServiceCall(change) { user, ...input }: { user: string; password?: string; name?: string }) {
    return this.accounts.change(user, input);
  }

  @Post('users/:user/addresses')
  addAddress(@ServiceCall(addressing) { user, address }: { user: string; address: string }) {
    return this.accounts.addAddress(user, address);
  }

  @Delete('users/:user')
  remove(@ServiceCall(removal) { user }: { user: string }) {
    return this.accounts.remove(user);
  }

  @Post('authenticate')
  authenticate(@ServiceCall(login) input: Login) {
    return this.accounts.authenticate(input);
  }

  @Delete('authenticate')
  logOut(@CallerOf() caller: Caller) {
    if (caller.userId === null) throw mailErrors.missingPrivileges();
    return this.accounts.logOut(caller.token);
  }
}
