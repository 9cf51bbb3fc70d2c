import { Module } from '@nestjs/common';
import { HolidayCatalogue } from './catalogue/holiday-catalogue.js';
import { HolidaysController } from './holidays.controller.js';
import { HolidaysRepository, HolidaysService } from './holidays.service.js';
import { HolidaysPersonalData } from './holidays-personal-data.js';

@Module({
  controllers: [HolidaysController],
  providers: [HolidaysPersonalData, HolidaysRepository, HolidayCatalogue, HolidaysService],
  exports: [HolidaysService],
})
export class HolidaysModule {}
