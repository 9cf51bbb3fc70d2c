import { Controller, Delete, Get, Post, Put } from '@nestjs/common';
import Joi from 'joi';
import { Call, CallerOf } from '../http/call.js';
import { type Caller, serviceOnly } from '../http/caller.guard.js';
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
  create(@CallerOf() caller: Caller, @Call(creation) input: NewAccount) {
    return this.accounts.create(serviceOnly(caller, input));
  }

  @Get('users/resolve/:username')
  resolve(@CallerOf() caller: Caller, @Call(resolution) input: { username: string }) {
    return this.accounts.resolve(serviceOnly(caller, input).username);
  }

  @Put('users/:user')
  change(
    @CallerOf() caller: Caller,
    @Call(change) input: { user: string; password?: string; name?: string },
  ) {
    return this.accounts.change(input.user, serviceOnly(caller, input));
  }

  @Delete('users/:user')
  remove(@CallerOf() caller: Caller, @Call(removal) input: { user: string }) {
    return this.accounts.remove(serviceOnly(caller, input).user);
  }

  @Post('authenticate')
  authenticate(@CallerOf() caller: Caller, @Call(login) input: Login) {
    return this.accounts.authenticate(serviceOnly(caller, input));
  }

  @Delete('authenticate')
  logOut(@CallerOf() caller: Caller) {
    if (caller.userId === null) throw mailErrors.missingPrivileges();
    return this.accounts.logOut(caller.token);
  }
}
