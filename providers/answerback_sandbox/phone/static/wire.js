// Talking to the sandbox: one call for what the phone shows, one for each thing the person does, and its events.

import { toast } from "./notes.js";
import { here } from "./state.js";

export const api = "/phone/api";
const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "That did not work.");

export async function post(path, body) {
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body || {}) });
    const result = await response.json();
    if (response.ok) return result;
    toast(sentence(result.error || result.description));
  } catch {
    toast("The sandbox does not answer.");
  }
  return null;
}

export const act = (what, body) => post(`${api}/people/${here.person}/${what}`, body);

// The phone of `here.person`; null if there is no such person, undefined while the sandbox is gone.
export async function look() {
  try {
    const response = await fetch(`${api}/people/${here.person}`);
    return response.ok ? await response.json() : null;
  } catch {
    return undefined;
  }
}

export function follow(changed, lost) {
  const events = new EventSource(`${api}/events`);
  events.onmessage = changed;
  events.onerror = lost;
}
