/** Calls Runnel: follows runs through any loss of connection, and verifies status callbacks and receipts. */
package com.runnel.client;
