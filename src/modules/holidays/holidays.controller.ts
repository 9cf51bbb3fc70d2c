import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Requires } from '../../platform/context/permission.guard.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import {
  EffectiveHolidays,
  EffectiveQuery,
  HolidayErrors,
  HolidaysPage,
  HolidaysQuery,
  SubscriptionsInput,
  SubscriptionsResponse,
  TenantSubscriptionsInput,
  TenantSubscriptionsResponse,
} from './holidays.dto.js';
import { HolidaysService } from './holidays.service.js';

const { unknownCountry, unknownRegion, yearUnsupported } = HolidayErrors;

@ApiTags('calendar')
@Controller('calendar')
export class HolidaysController {
  constructor(private readonly holidays: HolidaysService) {}

  @Endpoint('GET holidays', {
    id: 'listHolidays',
    summary: 'List the holidays of a country',
    description:
      'Without `country`: the countries and their regions. Data: date-holidays, CC BY-SA 3.0 (https://github.com/commenthol/date-holidays).',
    response: [HolidaysPage, 'Holidays in order of date, or countries.'],
    errors: [unknownCountry, unknownRegion, yearUnsupported],
  })
  list(@Query() query: HolidaysQuery): Promise<HolidaysPage> {
    return this.holidays.list(query);
  }

  @Endpoint('GET holidays/effective', {
    id: 'listEffectiveHolidays',
    summary: 'List the holidays that you see',
    description:
      'Holidays of the subscriptions of the workspace, unless muted, and of your own. A holiday of several subscriptions appears once.',
    response: [EffectiveHolidays, 'Holidays in order of date, and the subscriptions that they come from.'],
    errors: [yearUnsupported],
  })
  readEffective(@Ctx() ctx: RequestContext, @Query() query: EffectiveQuery): Promise<EffectiveHolidays> {
    return this.holidays.readEffective(ctx, query);
  }

  @Endpoint('GET holiday-subscriptions', {
    id: 'readHolidaySubscriptions',
    summary: 'Read your holiday subscriptions',
    description:
      'Also returns the subscriptions of the workspace for all members, and the ones that you have muted.',
    response: [SubscriptionsResponse, 'Your subscriptions and those of the workspace.'],
  })
  subscriptions(@Ctx() ctx: RequestContext): Promise<SubscriptionsResponse> {
    return this.holidays.subscriptions(ctx);
  }

  @Endpoint('PUT holiday-subscriptions', {
    id: 'replaceHolidaySubscriptions',
    summary: 'Replace your holiday subscriptions',
    description: 'Of several entries for one place the last counts.',
    response: [SubscriptionsResponse, 'Your subscriptions and those of the workspace.'],
    errors: [unknownCountry, unknownRegion],
    example: {
      subscriptions: [{ country: 'DE', region: 'BY', types: ['public'], language: 'de', busy: false }],
      muted_tenant: ['FR'],
    },
  })
  subscribe(@Ctx() ctx: RequestContext, @Body() body: SubscriptionsInput): Promise<SubscriptionsResponse> {
    return this.holidays.subscribe(ctx, body);
  }

  @Endpoint('PUT holiday-subscriptions/tenant', {
    id: 'replaceTenantHolidaySubscriptions',
    summary: 'Replace the holiday subscriptions of the workspace',
    description:
      'The subscriptions apply to all members; each member can mute them. Of several entries for one place the last counts.',
    response: [TenantSubscriptionsResponse, 'The subscriptions of the workspace.'],
    errors: [unknownCountry, unknownRegion],
    example: { subscriptions: [{ country: 'DE', types: ['public'] }] },
  })
  @Requires('calendar.holidays.manage')
  subscribeTenant(
    @Ctx() ctx: RequestContext,
    @Body() body: TenantSubscriptionsInput,
  ): Promise<TenantSubscriptionsResponse> {
    return this.holidays.subscribeTenant(ctx, body);
  }
}
