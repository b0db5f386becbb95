// What this tab looks at. The address keeps it over a reload.

const address = new URL(location.href);
const asked = address.searchParams;

export const APPS = ["telegram", "whatsapp", "mail"];
export const FIRST = 1001;
export const here = {
  person: Number(asked.get("person")) || FIRST,
  app: APPS.includes(asked.get("app")) ? asked.get("app") : APPS[0],
  chat: Number(asked.get("chat")) || null, // of Telegram
  mail: asked.get("mail"), // the one that is open
  payload: asked.get("start"), // of a link that opens Telegram
  phone: null, // what the sandbox last said
};

export function remember() {
  address.search = "";
  if (here.person !== FIRST) asked.set("person", here.person);
  if (here.app !== APPS[0]) asked.set("app", here.app);
  if (here.chat) asked.set("chat", here.chat);
  if (here.mail) asked.set("mail", here.mail);
  if (here.payload !== null) asked.set("start", here.payload);
  history.replaceState(null, "", address);
}
