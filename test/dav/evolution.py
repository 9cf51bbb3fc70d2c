"""Evolution's data server as a client.

It has the sources of the environment (`DAV_SOURCES`: kind to UID of a source) and executes the commands of standard input, one JSON line
each; the response is one JSON line of standard output: the texts of all items (`list`), or an error.
"""

import json
import os
import sys
import threading

import gi

for name, version in (("EDataServer", "1.2"), ("ECal", "2.0"), ("EBook", "1.2"), ("EBookContacts", "1.2"), ("ICalGLib", "3.0")):
    gi.require_version(name, version)
from gi.repository import EBook, EBookContacts, ECal, EDataServer, GLib, ICalGLib  # noqa: E402

SECONDS = 30
NONE = ECal.OperationFlags.NONE
ALL = ECal.ObjModType.ALL


def answer(source, *_):
    """Evolution asks the user for the password."""
    credentials = EDataServer.NamedParameters()
    credentials.set("username", os.environ["DAV_USER"])
    credentials.set("password", os.environ["DAV_PASSWORD"])
    source.invoke_authenticate(credentials, None, None, None)


class Calendar:
    def __init__(self, source, kind):
        self.client = ECal.Client.connect_sync(source, kind, SECONDS, None)

    def texts(self):
        _, found = self.client.get_object_list_sync("#t", None)
        return [each.as_ical_string() for each in found]

    def create(self, text):
        self.client.create_object_sync(ICalGLib.Component.new_from_string(text), NONE, None)

    def change(self, uid, old, new):
        _, found = self.client.get_object_sync(uid, None, None)
        text = found.as_ical_string().replace(old, new)
        self.client.modify_object_sync(ICalGLib.Component.new_from_string(text), ALL, NONE, None)

    def remove(self, uid):
        self.client.remove_object_sync(uid, None, ALL, NONE, None)


class Book:
    def __init__(self, source):
        self.client = EBook.BookClient.connect_sync(source, SECONDS, None)

    def texts(self):
        query = EBookContacts.BookQuery.any_field_contains("").to_string()
        _, found = self.client.get_contacts_sync(query, None)
        return [each.to_string(EBookContacts.VCardFormat(1)) for each in found]

    def create(self, text):
        self.client.add_contact_sync(EBookContacts.Contact.new_from_vcard(text), EBookContacts.BookOperationFlags.NONE, None)

    def change(self, uid, old, new):
        _, found = self.client.get_contact_sync(uid, None)
        text = found.to_string(EBookContacts.VCardFormat(1)).replace(old, new)
        changed = EBookContacts.Contact.new_from_vcard(text)
        self.client.modify_contact_sync(changed, EBookContacts.BookOperationFlags.NONE, None)

    def remove(self, uid):
        self.client.remove_contact_by_uid_sync(uid, EBookContacts.BookOperationFlags.NONE, None)


def main():
    loop = GLib.MainLoop()
    threading.Thread(target=loop.run, daemon=True).start()
    registry = EDataServer.SourceRegistry.new_sync(None)
    sources = json.loads(os.environ["DAV_SOURCES"])
    clients = {}

    def client(kind):
        if kind not in clients:
            source = registry.ref_source(sources[kind])
            source.connect("credentials-required", answer)
            if kind == "contacts":
                clients[kind] = Book(source)
            else:
                types = {"events": ECal.ClientSourceType.EVENTS, "tasks": ECal.ClientSourceType.TASKS}
                clients[kind] = Calendar(source, types[kind])
        return clients[kind]

    for line in sys.stdin:
        command = json.loads(line)
        try:
            which = client(command["kind"])
            if command["action"] == "list":
                which.client.refresh_sync(None)
                result = which.texts()
            else:
                result = getattr(which, command["action"])(*command["args"])
            response = {"result": result}
        except GLib.Error as error:
            response = {"error": error.message}
        print(json.dumps(response), flush=True)


main()
