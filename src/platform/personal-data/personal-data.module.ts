import { Global, Module } from '@nestjs/common';
import { PersonalData } from './personal-data.js';
import { RequestPersonalData } from './request-personal-data.js';
import { PersonalRows } from './personal-rows.js';

/** The registry of personal data of all domains. */
@Global()
@Module({
  providers: [PersonalData, PersonalRows, RequestPersonalData],
  exports: [PersonalData, PersonalRows],
})
export class PersonalDataModule {}
