export { postage, type Tariff } from "./postage.js";
