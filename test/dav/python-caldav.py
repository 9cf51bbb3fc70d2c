"""python3-caldav as a client: each step fails with an assertion."""

import os
from datetime import datetime, timezone

import caldav

EVENT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Test//EN
BEGIN:VEVENT
UID:%s
DTSTAMP:20270101T000000Z
DTSTART:20270302T090000Z
DTEND:20270302T100000Z
%sSUMMARY:%s
END:VEVENT
END:VCALENDAR
"""

client = caldav.DAVClient(os.environ["DAV_URL"], username=os.environ["DAV_USER"], password=os.environ["DAV_PASSWORD"])
principal = client.principal()
assert len(principal.calendars()) >= 2
calendar = principal.make_calendar(name="Python", cal_id="python-calendar")
assert calendar.get_property(caldav.elements.dav.DisplayName()) == "Python"

event = calendar.save_event(EVENT % ("python-1", "", "One"))
calendar.save_event(EVENT % ("python-2", "RRULE:FREQ=DAILY;COUNT=3\n", "Daily"))
assert len(calendar.events()) == 2
assert calendar.event_by_uid("python-1").instance.vevent.summary.value == "One"


def found(start, end, **more):
    return calendar.date_search(start=start, end=end, compfilter="VEVENT", **more)


day = lambda number: datetime(2027, 3, number, tzinfo=timezone.utc)
assert len(found(day(2), day(3))) == 2
assert len(found(day(3), day(4))) == 1
assert len(found(day(6), day(7))) == 0

token = calendar.objects_by_sync_token()
event.load()
event.instance.vevent.summary.value = "Changed"
event.save()
changed = calendar.objects_by_sync_token(token.sync_token)
assert len(list(changed)) == 1
event.load()
assert event.instance.vevent.summary.value == "Changed"
event.delete()
assert len(calendar.events()) == 1
try:
    calendar.event_by_uid("python-1")
    raise AssertionError("the event exists")
except caldav.lib.error.NotFoundError:
    pass
calendar.delete()
