import { Global, Module } from '@nestjs/common';
import { Keyring } from './keyring.js';
import { SecretBox } from './secret-box.js';

@Global()
@Module({ providers: [Keyring, SecretBox], exports: [Keyring, SecretBox] })
export class SecretsModule {}
